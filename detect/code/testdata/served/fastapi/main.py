from fastapi import APIRouter, Depends, FastAPI, WebSocket

import shop.tools
from shop import books, users as people
from shop.admin import router as admin_router
from shop.api import api_router
from shop.made import make_router
from shop.views import Orders

PREFIX = "/v1"


def who():
    return "me"


app = FastAPI(title="Shop")
local = APIRouter(prefix="/local", tags=["local"], dependencies=[Depends(who)])


@app.get("/")
async def root():
    return {}


@app.get("/items/{item_id}")
@app.head("/items/{item_id}")
async def item(item_id: int, user: str = Depends(who)):
    return {}


@app.api_route("/multi", methods=["GET", "POST"])
def multi():
    return {}


@app.websocket("/ws/{room}")
async def talk(socket: WebSocket, room: str):
    await socket.accept()


@app.get("/files/{file_path:path}")
def file(file_path: str):
    return {}


@app.get(f"{PREFIX}/format/{{name}}")
def formatted(name: str):
    return {}


@app.patch(PREFIX + "/sum")
def summed():
    return {}


@app.post(path="/keyword")
def keyword():
    return {}


@app.trace("/traced")
def traced():
    return {}


@app.route("/plain", methods=["DELETE"])
def plain(request):
    return None


@local.get("")
def local_root():
    return {}


@local.put("/{x}/y")
def local_put(x: str):
    return {}


def added():
    return {}


sub = FastAPI()


@sub.get("/inside")
def inside():
    return {}


@sub.websocket("/inside-ws")
async def inside_ws(socket: WebSocket):
    await socket.accept()


app.include_router(local)
app.include_router(books.router)
app.include_router(router=books.router, prefix="/again")
app.include_router(people.router, prefix=PREFIX, dependencies=[Depends(who)])
app.include_router(admin_router, prefix="/admin")
app.include_router(api_router, prefix=f"{PREFIX}/api")
app.include_router(shop.tools.router, prefix="/tools")
app.include_router(make_router(), prefix="/made")
app.include_router(Orders().router, prefix="/orders")
for extra, where in ((shop.tools.extra, "/extra"),):
    app.include_router(extra, prefix=where)
app.add_api_route("/added", added, methods=["DELETE"])
app.add_api_websocket_route("/added-ws", talk)
app.mount("/sub", sub)
