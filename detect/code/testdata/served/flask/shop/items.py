from flask import Blueprint
from flask.views import MethodView, View

bp = Blueprint("items", __name__, url_prefix="/replaced")


class Items(MethodView):
    def get(self):
        return ""

    def post(self):
        return ""


class ItemView(MethodView):
    def get(self, item):
        return ""

    def delete(self, item):
        return ""


class Search(View):
    methods = ["GET", "SEARCH"]

    def dispatch_request(self):
        return ""


def plain():
    return ""


bp.add_url_rule("/", view_func=Items.as_view("items"))
bp.add_url_rule("/search", view_func=Search.as_view("search"))
view = ItemView.as_view("item")
bp.add_url_rule("/<int:item>", view_func=view)
