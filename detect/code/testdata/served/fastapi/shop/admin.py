from fastapi import APIRouter

from . import books

router = APIRouter()


@router.get("/stats")
def stats():
    return {}


router.include_router(books.router, prefix="/stock")
