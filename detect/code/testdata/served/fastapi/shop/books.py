from fastapi import APIRouter

router = APIRouter(prefix="/books")


@router.get("/")
def books():
    return []


@router.get("/{isbn}")
def book(isbn: str):
    return {}
