"""The middleware of Dagster's web server: which requests reach the server, and the sentence that refuses the others."""

from typing import Any

import pytest

from memflow.resources.runs.owner_requests import OwnerRequests

OWN = {"host": "127.0.0.1:3000", "origin": "http://127.0.0.1:3000"}
POSTED = {**OWN, "content-type": "application/json"}
FOLLOWED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


async def answer(
    headers: dict[str, str] | list[tuple[str, str]],
    method: str = "POST",
    path: str = "/graphql",
    query: str = "",
    kind: str = "http",
) -> tuple[int, str]:
    """Return the status and the body of the answer to a request; 200 if it reaches the server."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = headers.items() if isinstance(headers, dict) else headers
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in pairs],
        "extensions": {"websocket.http.response": {}},
    }
    await OwnerRequests(app, ["ui.example.org"])(scope, None, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


@pytest.mark.parametrize(
    "headers",
    [
        POSTED,
        {"host": "localhost:3000", "content-type": "application/json; charset=utf-8"},
        {"host": "[::1]:3000", "origin": "http://[::1]:3000", "content-type": "application/json"},
        {"host": "ui.example.org", "origin": "https://ui.example.org", "content-type": "application/json"},
        {"host": "UI.example.org", "origin": "https://ui.example.org", "content-type": "application/json"},
        {**POSTED, "sec-fetch-site": "same-origin"},
    ],
)
async def test_posts_of_own_pages_and_of_programs_reach_the_server(headers: dict[str, str]) -> None:
    assert (await answer(headers))[0] == 200


async def test_pages_and_websockets_of_the_ui_reach_the_server() -> None:
    assert (await answer(OWN, "GET", "/assets", "view=list"))[0] == 200
    assert (await answer({**OWN, "sec-fetch-site": "none"}, "GET", "/graphql"))[0] == 200
    assert (await answer(OWN, "GET", kind="websocket"))[0] == 200


async def test_link_on_a_foreign_page_opens_the_ui_and_a_frame_there_does_not() -> None:
    host = {"host": "127.0.0.1:3000"}
    assert (await answer({**host, **FOLLOWED}, "GET", "/runs"))[0] == 200
    assert (await answer({**host, **FOLLOWED, "sec-fetch-dest": "iframe"}, "GET", "/runs"))[0] == 403
    assert (await answer({**POSTED, **FOLLOWED}))[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {**POSTED, "host": "evil.example", "origin": "http://evil.example"},
        {**POSTED, "host": "127.0.0.1.evil.example:3000"},
        {**POSTED, "host": "evil.localhost:3000"},
        {**POSTED, "host": ""},
        [*POSTED.items(), ("host", "evil.example")],
        [("content-type", "application/json")],
        {**POSTED, "origin": "http://evil.example"},
        {**POSTED, "origin": "http://127.0.0.1:3001"},
        {**POSTED, "origin": "http://localhost:3000"},
        {**POSTED, "origin": "chrome-extension://127.0.0.1:3000"},
        {**POSTED, "origin": "null"},
        {**POSTED, "origin": ""},
        [*POSTED.items(), ("origin", "http://evil.example")],
        {"host": "127.0.0.1:3000", "content-type": "application/json", "sec-fetch-site": "cross-site"},
        {"host": "127.0.0.1:3000", "content-type": "application/json", "sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
async def test_requests_of_foreign_hosts_origins_and_sites_are_refused(headers: Any, kind: str) -> None:
    status, sentence = await answer(headers, "POST" if kind == "http" else "GET", kind=kind)
    assert status == 403
    assert sentence.startswith("This server does not answer requests ")


@pytest.mark.parametrize(
    ("method", "content_type"),
    [
        ("POST", None),
        ("POST", "text/plain"),
        ("POST", "text/plain; application/json"),
        ("POST", "application/x-www-form-urlencoded"),
        ("POST", "multipart/form-data"),
        ("POST", "application/graphql"),
        ("PUT", "application/json"),
        ("OPTIONS", None),
    ],
)
@pytest.mark.parametrize("path", ["/graphql", "/report_asset_materialization/score/leaderboard"])
async def test_changes_are_accepted_only_as_json_by_post(
    method: str, content_type: str | None, path: str
) -> None:
    headers = {"host": OWN["host"], **({"content-type": content_type} if content_type else {})}
    status, sentence = await answer(headers, method, path, "query=mutation")
    assert (status, "application/json" in sentence) == (400, True)


@pytest.mark.parametrize("path", ["/graphql", "/graphql/", "/prefix/graphql"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_graphql_in_the_url_is_refused(method: str, path: str) -> None:
    status, sentence = await answer({"host": OWN["host"]}, method, path, "query=%7Bversion%7D")
    assert (status, "in the body" in sentence) == (400, True)
