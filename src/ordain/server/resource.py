"""Where a resource's routes stand until the application takes them as they are."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute


def operation_id(route: APIRoute) -> str:
    """An operation is named as its function; a test holds the names apart."""
    return route.name


def resource(*tags: str, prefix: str = "") -> APIRouter:
    """A router whose routes need nothing of the application that takes them."""
    return APIRouter(prefix=prefix, tags=list(tags), generate_unique_id_function=operation_id)


def take_routes(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Add every route as it was built.

    ``include_router`` would build each again, signature and answers and all, when the first request looks for its route.
    """
    for router in routers:
        app.router.routes.extend(router.routes)
