"""The REST API: its description, every GET address of the data folder, and every request with good and bad bodies."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from tests.nets.application import Application, as_json, shown
from tests.nets.surroundings import ROOT
from tests.nets.texts import Texts, sorted_json

CHANGES = ("post", "put", "delete", "patch")
TRIED = (
    "",
    "0",
    "1",
    "-1",
    "2.5",
    "x!",
    "true",
    "size",
    "APPLICATION1",
    "2026-02-20",
    "99999999999999999999",
)
"""Values for every query parameter."""
DEEP = ("/api/v1/size", "/api/v1/events/simulate", "/api/v1/cluster/decide", "/api/v1/policy")
BAD_BODIES = {
    "empty object": "{}",
    "array": "[]",
    "null": "null",
    "half": '{"qsg": "SQ03"',
    "duplicate member": '{"qsg": "SQ03", "qsg": "SQ04"}',
    "nothing": "",
    "unknown member": '{"nonsense": 1}',
    "NaN": '{"queue_managers": NaN}',
}
MOST_MUTATIONS = 400


def write(application: Application, texts: Texts, work: Path) -> None:
    """Write all of it."""
    description = application.json("/openapi.json")
    texts.add("openapi", "openapi.json", sorted_json(description))
    for path, item in description["paths"].items():
        for method, operation in item.items():
            examples(texts, path, method, operation)
            if method == "get":
                read(application, texts, path, operation)
            else:
                change(application, texts, path, method, operation)


def examples(texts: Texts, path: str, method: str, operation: dict[str, Any]) -> None:
    """Each example of the description as a text of its own."""
    described = {"request": operation.get("requestBody", {}), **operation["responses"]}
    for status, part in described.items():
        for media_type, content in part.get("content", {}).items():
            found = {name: example.get("value") for name, example in content.get("examples", {}).items()}
            if "example" in content:
                found["example"] = content["example"]
            for name, value in found.items():
                label = f"{method} {path} {status} {media_type} {name}"
                texts.add("examples", label, value if isinstance(value, str) else sorted_json(value))


# ---- addresses ---------------------------------------------------------------------------------------------------


def addresses(application: Application, path: str) -> Iterator[str]:
    """The path with everything of the data folder that fits, and with something that is not there.

    The names of the parameters do not count: a path is recognized by its fixed parts.
    """
    if "{" not in path:
        yield path
        return
    form = re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1"))
    for values in fitting(application, form):
        yield re.sub(r"\{[^}]*\}", "{}", path).format(*(quote(str(value), safe="") for value in values))


def fitting(application: Application, form: str) -> Iterator[tuple[object, ...]]:
    """Values for the parameters of a path."""
    count = form.count("{}")
    yield ("NOWHERE", "9999", "NOTHING")[:count]

    def listed(address: str) -> list[Any]:
        return items(application.json(address))

    if form.startswith("/plans/{}"):
        for plan in listed("/api/v1/plans"):
            name = plan["name"]
            if count == 1:
                yield (name,)
            elif form.startswith("/plans/{}/versions"):
                yield from ((name, number) for number in range(1, plan["version"] + 1))
            else:
                found = listed(f"/api/v1/plans/{name}/scenarios")
                yield from ((name, scenario["name"]) for scenario in found)
    elif form.startswith("/uploads/{}"):
        yield from ((each["id"],) for each in listed("/api/v1/uploads"))
    elif form.startswith("/jobs/{}"):
        found = listed("/api/v1/uploads")
        yield from ((each["job"]["id"],) for each in found if each.get("job"))
    elif form.startswith("/usage/structures/{}"):
        found = listed("/api/v1/usage/structures")
        yield from ((each["qsg"], each["structure"]) for each in found)
    elif form.startswith("/curves/{}"):
        yield from ((each["version"],) for each in listed("/api/v1/curves"))
    elif form.startswith("/forecasts/{}"):
        found = listed("/api/v1/forecasts")
        yield from dict.fromkeys((each["qsg"], each["structure"]) for each in found)
    elif form.startswith("/nightly-runs/{}"):
        yield from ((each["id"],) for each in listed("/api/v1/nightly-runs"))
    elif form.startswith("/reference/{}"):
        yield from ((each["id"],) for each in listed("/api/v1/reference"))
    elif form.startswith("/cf-levels/{}"):
        yield from (("CF01",), ("CF09",), ("cf*",))
    elif form.startswith("/qsg-map/{}"):
        yield from (("SYSA", "CSQ1"), ("SYSB", "CSQ2"), ("sys*", "CSQ2"))
    else:
        msg = f"No values are known for {form}."
        raise ValueError(msg)


def items(answer: dict[str, Any]) -> list[Any]:
    """What an answer lists; not its findings."""
    lists = (value for name, value in answer.items() if isinstance(value, list) and name != "findings")
    return next(lists, [])


def needed(application: Application, address: str, operation: dict[str, Any]) -> dict[str, list[str]]:
    """Values for the parameters that a query must have."""
    found: dict[str, list[str]] = {}
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query" and parameter.get("required"):
            found[parameter["name"]] = ["more-trade"]
            if address.endswith("/queue"):
                answer = application.get(address.removesuffix("/queue") + "/queues").json()
                found["name"] = [each.get("queue") or each.get("name") for each in items(answer)][:3] or [
                    "NONE"
                ]
            elif "/scenarios/" in address:
                answer = application.get(address.removesuffix("/compare")).json()
                found[parameter["name"]] = [each["name"] for each in items(answer)] or ["none"]
    return found


def with_query(address: str, query: dict[str, str]) -> str:
    """An address with a query."""
    return f"{address}?{urlencode(query)}" if query else address


def read(application: Application, texts: Texts, path: str, operation: dict[str, Any]) -> None:
    """Every address of a GET path; the first two also with every value of every parameter."""
    names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
    for number, address in enumerate(addresses(application, path)):
        required = needed(application, address, operation)
        first = {name: values[0] for name, values in required.items()}
        queries = [first | {name: value} for name, values in required.items() for value in values] or [first]
        if number < 3:
            queries += [first | {name: value} for name in names for value in TRIED]
        parts = []
        for query in queries:
            asked = with_query(address, query)
            parts.append(f"GET {asked}\n{answer_of(application, asked)}")
        texts.add(
            "rest-get", path.removeprefix("/api/v1") if address == path else address, "\n\n".join(parts)
        )


def answer_of(application: Application, address: str) -> str:
    """The answer, unless it lasts as long as a job does."""
    if address.endswith("/events"):
        job = application.get(address.removesuffix("/events"))
        if job.is_success and job.json()["state"] not in ("done", "failed"):
            return "an answer that lasts"
    return shown(application.get(address))


# ---- requests with a body ----------------------------------------------------------------------------------------


def change(application: Application, texts: Texts, path: str, method: str, operation: dict[str, Any]) -> None:
    """Every request that a path takes, each on the first state of the database."""
    asked = list(addresses(application, path))
    names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
    content = operation.get("requestBody", {}).get("content", {})
    bodies = {
        name: example["value"]
        for name, example in content.get("application/json", {}).get("examples", {}).items()
    }
    if not bodies and "application/json" in content:
        bodies = dict(enumerate_bodies(path))

    def send(at: str, **options: Any) -> httpx.Response:  # noqa: ANN401
        answer = application.send(method.upper(), at, **options)
        if path.startswith(
            ("/api/v1/plans", "/api/v1/uploads", "/api/v1/qsg", "/api/v1/cf", "/api/v1/night")
        ):
            application.restore()
        return answer

    def text(remark: str, at: str, **options: Any) -> str:  # noqa: ANN401
        return f"== {remark}: {method.upper()} {at}\n{shown(send(at, **options))}"

    for number, address in enumerate(asked):
        label = f"{method} {address}"
        if not content or "application/json" not in content:
            parts = [text("no body", address), text("etag", address, headers={"if-match": '"1.3"'})]
            parts += [text("query", with_query(address, {name: value})) for name in names for value in TRIED]
            if content:
                parts += [text(f"file {name}", address, content=body) for name, body in BAD_BODIES.items()]
            texts.add("rest-send", label, "\n\n".join(parts))
            continue
        parts = [text(name, address, **as_json(body)) for name, body in bodies.items()]
        if number == 0 or (number == 1 and method == "put"):
            parts += bad_bodies(text, address)
            parts += [
                text("query", with_query(address, {name: value}), **as_json(body))
                for name in names
                for value in TRIED
                for body in list(bodies.values())[:1]
            ]
        if method == "put":
            body = next(iter(bodies.values()))
            parts += [
                text(f"if-match {tag}", address, content=json.dumps(body), headers={"content-type": "application/json", "if-match": tag})
                for tag in ('"1.3"', '"1.1"', "*", "x")
            ]  # fmt: skip
        texts.add("rest-send", label, "\n\n".join(parts))
    address = asked[min(1, len(asked) - 1)]
    if "application/yaml" in content:
        for file in example_files():
            given = {"content": file.read_bytes(), "headers": {"content-type": "application/yaml"}}
            texts.add("rest-send", f"{method} {path} file {file.name}", text(file.name, address, **given))
    if bodies:
        changed = [
            text(remark, address, **as_json(body))
            for remark, body in mutations(next(iter(bodies.values())), is_deep=path in DEEP)
        ]
        texts.add("rest-send", f"{method} {path} mutations", "\n\n".join(changed))


def bad_bodies(text: Any, address: str) -> list[str]:  # noqa: ANN401 - a function with options
    """Requests that cannot be read."""
    headers = {"content-type": "application/json"}
    parts = [text(name, address, content=body, headers=headers) for name, body in BAD_BODIES.items()]
    yaml = {"content-type": "application/yaml"}
    parts += [
        text(f"yaml {body!r}", address, content=body, headers=yaml)
        for body in ("a: [", "&a [*a]", "qsg: SQ03\nqsg: SQ04", "- 1")
    ]
    parts.append(text("another media type", address, content="{}", headers={"content-type": "text/csv"}))
    return parts


def enumerate_bodies(path: str) -> Iterator[tuple[str, object]]:
    """Bodies for the requests whose description has no examples."""
    known: dict[str, list[object]] = {
        "/qsg-map/": [{"qsg": "SQ03"}, {"qsg": None}, {"qsg": ""}, {"qsg": "sq*"}],
        "/cf-levels/": [{"cfcc_level": 24}, {"cfcc_level": 0}, {"cfcc_level": "x"}],
        "/ingest": [
            {},
            {"kind": "csv"},
            {"observed_at": "2026-02-20T08:00", "zone": "UTC"},
            {"qsg": [{"system_id": "SYSA", "queue_manager": "CSQ1", "qsg": "SQ03"}]},
        ],
        "/usage/plan-document": [
            {"qsg": "SIM1", "name": "SIM1", "queue_managers": ["QM01", "QM02"]},
            {"qsg": "SIM1"},
            {"qsg": "SIM1", "queue_managers": 2, "coupling_facilities": ["CF01", "CF02"]},
        ],
    }
    for part, bodies in known.items():
        if part in path:
            yield from ((f"body {number}", body) for number, body in enumerate(bodies, start=1))
            return
    yield "no body known", {}


def example_files() -> list[Path]:
    """The YAML files that the application brings."""
    return sorted(ROOT.glob("app/**/examples/**/*.yaml"), key=lambda file: file.name)


def mutations(body: Any, *, is_deep: bool) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - any JSON value
    """The body with one member changed or left out, for each kind of member."""
    seen: set[str] = set()
    for pointer in pointers(body):
        kind = re.sub(r"/[0-9]+", "/0", "/".join(("", *map(str, pointer))))
        if kind in seen or len(seen) >= MOST_MUTATIONS:
            continue
        seen.add(kind)
        values: tuple[object, ...] = ("x!", -1, None, [], 10**15) if is_deep else ("x!",)
        for value in values:
            changed = copy.deepcopy(body)
            place(changed, pointer)[pointer[-1]] = value
            yield f"{kind} = {value!r}", changed
        changed = copy.deepcopy(body)
        del place(changed, pointer)[pointer[-1]]
        yield f"without {kind}", changed
    if isinstance(body, dict):
        yield "with another member", {**body, "nonsense": 1}


def place(body: Any, pointer: tuple[str | int, ...]) -> Any:  # noqa: ANN401
    """What contains the member that a pointer leads to."""
    for step in pointer[:-1]:
        body = body[step]
    return body


def pointers(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    """Pointers to all members of a JSON value."""
    steps: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        steps = iter(value.items())
    elif isinstance(value, list):
        steps = iter(enumerate(value))
    for step, inside in steps:
        yield (*at, step)
        yield from pointers(inside, (*at, step))
