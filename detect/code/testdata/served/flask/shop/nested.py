from flask import Blueprint

parent = Blueprint("parent", __name__)
child = Blueprint("child", __name__, url_prefix="/child")
other = Blueprint("other", __name__, url_prefix="/other")


@parent.route("/top")
def top():
    return ""


@child.route("/leaf")
def leaf():
    return ""


@other.route("/leaf")
def other_leaf():
    return ""


parent.register_blueprint(child)
parent.register_blueprint(other, url_prefix="/renamed")
