from fastapi import APIRouter


class Orders:
    def __init__(self):
        self.router = APIRouter()
        self.router.add_api_route("/open", self.open, methods=["GET"])

    def open(self):
        return []
