from starlette.endpoints import HTTPEndpoint
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route


class Shelf(HTTPEndpoint):
    def get(self, request):
        return PlainTextResponse("")

    def delete(self, request):
        return PlainTextResponse("")


def books(request):
    return PlainTextResponse("")


routes = [
    Route("/", books),
    Route("/{isbn}", books, methods=["GET", "PUT"]),
    Mount("/shelves", routes=[Route("/{n}", Shelf)]),
]
