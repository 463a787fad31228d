from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router


def users(request):
    return PlainTextResponse("")


app = Router()
app.add_route("/all", users)
app.routes.append(Route("/more", users))
