from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route


def stats(request):
    return PlainTextResponse("")


app = Starlette(routes=[Route("/stats", stats), Route("/stats/{day}", stats, methods=["POST"])])
