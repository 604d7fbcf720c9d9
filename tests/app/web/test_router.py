from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Query
from fastapi.exceptions import ResponseValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from app.main import create_app
from app.settings import Settings
from app.web.router import DeferredRoute, Router
from tests.app.web.support import call, get


class Size(BaseModel):
    kib: int


@dataclass(frozen=True)
class Structure:
    name: str
    size: Size


def served_with(router: APIRouter) -> FastAPI:
    @router.get("/structures/{name}", responses={404: {"model": Size}})
    def structure(name: str, kib: Annotated[int, Query(ge=1)] = 4) -> Structure:
        return Structure(name, Size(kib=kib))

    @router.put("/structures/{name}", name="put", status_code=201)
    def put(name: str, size: Size) -> Structure:
        return Structure(name, size)

    @router.get("/wrong")
    def wrong() -> Structure:
        return "not a structure"  # type: ignore[return-value]

    @router.get("/page", include_in_schema=False)
    async def page() -> Response:
        return Response("page")

    return FastAPI(routes=router.routes)


@pytest.fixture
def both() -> tuple[FastAPI, FastAPI]:
    options: dict[str, Any] = {"prefix": "/api", "tags": ["structures"]}
    return served_with(Router(**options)), served_with(APIRouter(**options))


@pytest.mark.parametrize(
    ("method", "address", "body", "status"),
    [
        ("GET", "/api/structures/APPL1?kib=8", "", 200),
        ("GET", "/api/structures/APPL1?kib=0", "", 422),
        ("PUT", "/api/structures/APPL1", '{"kib": 8}', 201),
        ("PUT", "/api/structures/APPL1", '{"kib": "many"}', 422),
        ("PUT", "/api/structures/APPL1", "{", 422),
        ("GET", "/api/page", "", 200),
        ("HEAD", "/api/page", "", 405),
        ("POST", "/api/page", "", 405),
        ("GET", "/api/page/", "", 307),
        ("GET", "/api/nothing", "", 404),
    ],
)
def test_deferred_routes_answer_like_those_of_fastapi(
    both: tuple[FastAPI, FastAPI], method: str, address: str, body: str, status: int
) -> None:
    headers = {"content-type": "application/json"}
    ours, theirs = (call(each, method, address, headers=headers, chunks=[body.encode()]) for each in both)
    assert theirs.status == status
    assert (ours.status, ours.header_list, ours.content) == (status, theirs.header_list, theirs.content)


def test_deferred_routes_check_answers(both: tuple[FastAPI, FastAPI]) -> None:
    for each in both:
        with pytest.raises(ResponseValidationError):
            get(each, "/api/wrong")


def test_deferred_routes_are_described_like_those_of_fastapi(both: tuple[FastAPI, FastAPI]) -> None:
    ours, theirs = both
    assert ours.openapi() == theirs.openapi()
    assert set(ours.openapi()["components"]["schemas"]) >= {"Size", "Structure"}
    assert ours.url_path_for("put", name="APPL1") == theirs.url_path_for("put", name="APPL1")


def test_validators_are_built_at_the_first_request_of_their_route() -> None:
    built = []

    class Noted:
        def __init__(self, text: str) -> None:
            self.text = text

        def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
            built.append(self.text)
            return handler(source)

    router = Router()
    for name in ("first", "second"):

        def endpoint(number: int) -> int:
            return number

        answer = Annotated[int, Noted(name)]
        documented = {404: {"model": Annotated[int, Noted("only documented")]}}
        router.add_api_route(f"/{name}", endpoint, response_model=answer, responses=documented)  # type: ignore[arg-type]
    app = FastAPI(routes=router.routes)
    assert get(app, "/none").status == 404
    assert built == []
    assert [get(app, "/second?number=1").text for _ in range(2)] == ["1", "1"]
    assert built == ["second"]


def test_each_route_of_the_application_can_be_built(tmp_path: Path) -> None:
    routes = [each for each in create_app(Settings(data_dir=tmp_path)).routes if isinstance(each, APIRoute)]
    assert len(routes) > 250
    for route in routes:
        assert isinstance(route, DeferredRoute), f"{route.path}: declare it with app.web.router.Router"
        for built in (route._served(), route._described()):
            for name in ("path", "methods", "name", "endpoint", "include_in_schema", "path_format"):
                assert getattr(built, name) == vars(route)[name], f"{name} of {route.path}"
