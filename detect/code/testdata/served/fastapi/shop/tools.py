from fastapi import APIRouter

router = APIRouter()
extra = APIRouter()


@router.get("/hammer")
def hammer():
    return {}


@extra.get("/nail")
def nail():
    return {}
