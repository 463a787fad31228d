from fastapi import APIRouter

router = APIRouter(prefix="/login")


@router.post("/token")
def token():
    return {}
