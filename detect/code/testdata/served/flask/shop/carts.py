from flask import Blueprint

BASE = "/carts"
bp = Blueprint("carts", __name__, url_prefix=BASE)


@bp.route("", methods=["GET", "POST"])
def carts():
    return ""


@bp.route("/<cart_id>/lines")
def lines(cart_id):
    return ""
