from flask import Blueprint, Flask

from shop import carts
from shop.items import ItemView, Items, bp as items_bp, plain
from shop.nested import parent


def create_app():
    app = Flask(__name__)

    @app.route("/made")
    def made():
        return ""

    app.register_blueprint(carts.bp)
    app.register_blueprint(items_bp, url_prefix="/v2/items")
    app.register_blueprint(parent, url_prefix="/parent")
    app.add_url_rule("/class", view_func=Items.as_view("class"))
    app.add_url_rule("/class/<int:item>", view_func=ItemView.as_view("one"), methods=["DELETE"])
    app.add_url_rule("/plain", view_func=plain)
    return app


app = create_app()
local = Blueprint("local", __name__, url_prefix="/local")


@app.route("/")
@app.route("/index.html")
def index():
    return ""


@app.route("/user/<int:user_id>", methods=["GET", "POST"])
def user(user_id):
    return ""


@app.get("/got/<name>")
def got(name):
    return ""


@app.post("/posted")
def posted():
    return ""


@app.route("/any/<any(a, b):kind>/<path:rest>")
def kinds(kind, rest):
    return ""


@app.route("/code/<string(length=2):code>", methods=("PUT",))
def code(code):
    return ""


@app.route("/pages/", defaults={"page": 1})
@app.route("/pages/<int:page>")
def pages(page):
    return ""


@app.route(rule="/named", endpoint="other", strict_slashes=False)
def named():
    return ""


def added():
    return ""


app.add_url_rule("/added", view_func=added, methods=["PUT"])
app.add_url_rule("/added-too", "too", added)
app.add_url_rule(rule="/added-named", endpoint="three", view_func=added)


@local.route("/")
def local_root():
    return ""


@local.delete("/x/<uuid:x>")
def local_delete(x):
    return ""


app.register_blueprint(local)
app.register_blueprint(local, name="again", url_prefix="/again")
