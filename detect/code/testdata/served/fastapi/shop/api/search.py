from fastapi import APIRouter as Routes

search = Routes()


@search.get("/{term}")
def find(term: str):
    return []


@search.options("/{term}")
def choices(term: str):
    return []
