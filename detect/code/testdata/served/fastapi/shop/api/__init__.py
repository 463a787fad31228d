from fastapi import APIRouter

from .login import router as login_router
from .search import search

api_router = APIRouter()
api_router.include_router(login_router, tags=["login"])
api_router.include_router(search, prefix="/search")
