"""Prints what an application of FastAPI, Starlette or Flask serves by its own table: routes.py FOLDER.

HEAD and OPTIONS that a framework adds by itself are left out, and so are its own pages.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

from main import app  # noqa: E402

VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
OWN = ("/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc")


def methods_of(route):
    endpoint = route.endpoint
    if not hasattr(route, "methods"):
        return ["GET"]  # a websocket begins as one
    if route.methods is None:
        return [verb for verb in VERBS if hasattr(endpoint, verb.lower())]
    return [m for m in route.methods if m != "HEAD" or "GET" not in route.methods]


def walk(routes, prefix):
    for route in routes:
        inner = getattr(route, "routes", None)
        if not hasattr(route, "endpoint"):
            yield from walk(inner or [], prefix + route.path)
        elif not (route.path in OWN and not route.include_in_schema):
            for method in methods_of(route):
                yield method + " " + prefix + route.path


def rules(table):
    for rule in table.iter_rules():
        if rule.endpoint != "static":
            view = app.view_functions[rule.endpoint]
            given = {"OPTIONS"} if getattr(view, "provide_automatic_options", None) is not False else set()
            for method in rule.methods - given:
                if method != "HEAD" or "GET" not in rule.methods:
                    yield method + " " + rule.rule


told = rules(app.url_map) if hasattr(app, "url_map") else walk(app.routes, "")
print("\n".join(sorted(set(told))))
