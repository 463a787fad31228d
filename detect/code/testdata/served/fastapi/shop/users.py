import fastapi

router = fastapi.APIRouter()


@router.post("/users")
async def create():
    return {}


@router.delete("/users/{user_id:int}")
async def remove(user_id: int):
    return {}
