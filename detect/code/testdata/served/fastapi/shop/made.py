from fastapi import APIRouter


def make_router() -> APIRouter:
    router = APIRouter(prefix="/by-function")

    @router.get("/{n}")
    def one(n: int):
        return n

    return router
