from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, Router, WebSocketRoute

from shop import admin
from shop.books import Shelf, routes as book_routes
from shop.users import app as users


async def answer(request):
    return PlainTextResponse("")


async def talk(socket):
    await socket.accept()


class Both(HTTPEndpoint):
    async def get(self, request):
        return PlainTextResponse("")

    async def post(self, request):
        return PlainTextResponse("")


BASE = "/base"
routes = [
    Route("/", answer),
    Route("/users/{user_id:int}", endpoint=answer, methods=["GET", "POST"]),
    Route(path="/named", endpoint=answer, name="named"),
    Route("/both", Both),
    Route("/shelf/{n}", Shelf),
    Route(BASE + "/x", answer, methods=["PATCH"]),
    WebSocketRoute("/ws/{room}", talk),
    Mount("/v1", routes=[
        Route("/a", answer),
        Mount("/deep", routes=[Route("/{leaf:path}", answer, methods=["DELETE"])]),
    ]),
    Mount("/router", Router([Route("/r", answer), WebSocketRoute("/rw", talk)])),
    Mount("/books", routes=book_routes),
    Mount("/admin", app=admin.app),
    Mount("/people", users, name="people"),
]
app = Starlette(debug=False, routes=routes)
app.add_route("/late", answer, methods=["PUT"])
app.add_route("/late-class", Both)
app.add_websocket_route("/late-ws", talk)


@app.route("/decorated", methods=["GET", "OPTIONS"])
async def decorated(request):
    return PlainTextResponse("")


@app.websocket_route("/decorated-ws")
async def decorated_ws(socket):
    await socket.accept()


late = Starlette()
late.add_route("/in", answer)
app.mount("/mounted", late)
app.mount(path="/mounted-too", app=Router(routes=[Route("/in", answer, methods=["POST"])]))
