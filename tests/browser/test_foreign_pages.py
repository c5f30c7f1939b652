"""A web page of another site in a real browser: what it reaches of `memflow dev`, and of a bare `dagster dev`."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from selenium.webdriver import Chrome
from served import LOCATION, ROOT, Served, served, wait

pytestmark = [pytest.mark.browser, pytest.mark.daemon]

PAGE = Path(__file__).with_name("foreign_page.html")
HOSTS = ("attacker.localhost", "localhost", "127.0.0.1")
"""Hosts of the foreign page: another site, and another port of the UI's own names."""
LAUNCH = """
mutation Launch($execution: ExecutionParams!) {
  launchRun(executionParams: $execution) {
    __typename
    ... on RunConfigValidationInvalid { errors { message } }
  }
}
"""
SECRET = "sk-of-the-owner"


class Attacker:
    """A server of the foreign page, which also records every request that it gets as a model."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        attacker = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(PAGE.read_bytes())

            def do_POST(self) -> None:
                attacker.requests.append(f"{self.path} {self.headers.get('Authorization')}")
                self.send_error(500)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def config(self, file: Path) -> dict[str, Any]:
        """Return a run config that starts a program and sends the owner's key to this server."""
        model = {"kind": "endpoint", "model": "m", "url": f"http://127.0.0.1:{self.port}/v1"}
        memory = {"command": ["touch", str(file)]}
        config = {"roles": {}, "models": {"scripted": model}, "memories": {"mine": memory}}
        return {"resources": {"models": {"config": config}}}


@pytest.fixture(scope="module")
def attacker() -> Iterator[Attacker]:
    server = Attacker()
    threading.Thread(target=server.server.serve_forever, daemon=True).start()
    yield server
    server.server.shutdown()


def execution(config: dict[str, Any]) -> dict[str, Any]:
    """Return the variables of a launch of the memory `mine`."""
    tags = {
        "dagster/partition": "mine|amemgym_demo",
        "dagster/partition/assistant": "mine",
        "dagster/partition/domain": "amemgym_demo",
    }
    return {
        "execution": {
            "selector": {**LOCATION, "jobName": "evaluate_memory"},
            "runConfigData": config,
            "executionMetadata": {"tags": [{"key": key, "value": tag} for key, tag in tags.items()]},
        }
    }


def settings_in(folder: Path) -> Path:
    """Write settings whose memory `mine` a run config may try to replace."""
    settings = folder / "memflow.toml"
    settings.write_text(
        f"home = {json.dumps(str(folder / 'home'))}\ndomains = ['amemgym_demo']\nassistants = ['mine']\n"
        "[memories.mine]\nsystem = 'recent'\n"
    )
    return settings


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(settings_in(tmp_path_factory.mktemp("protected")), OPENAI_API_KEY=SECRET) as dev:
        yield dev


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("bare")
    settings = settings_in(folder)
    (folder / "dagster").mkdir()
    (folder / "dagster" / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text())
    program = (sys.executable, "-m", "dagster", "dev", "--workspace", str(ROOT / "workspace.yaml"))
    environment = {"MEMFLOW_SETTINGS": str(settings), "DAGSTER_HOME": str(folder / "dagster")}
    with served(settings, *program, **environment, OPENAI_API_KEY=SECRET) as dev:
        yield dev


def attack(driver: Chrome, page: str, ui: str, variables: dict[str, Any]) -> dict[str, str]:
    """Open the foreign page, which attacks the UI, and return the outcome of each of its ways."""
    operation = {"ui": ui, "query": LAUNCH, "variables": variables}
    driver.get("about:blank")
    driver.get(f"{page}/#{quote(json.dumps(operation))}")
    outcomes: dict[str, str] = wait(
        "the foreign page", lambda: driver.execute_script("return window.outcomes"), 60, pause=0.2
    )
    assert len(outcomes) == 8
    return outcomes


def test_foreign_page_reaches_nothing_of_memflow_dev(
    protected: Served, attacker: Attacker, chromium: Callable[[], Chrome], tmp_path: Path
) -> None:
    driver, file = chromium(), tmp_path / "made_by_the_attacker"
    for host in HOSTS:
        for config in ({}, attacker.config(file)):
            outcomes = attack(driver, f"http://{host}:{attacker.port}", protected.url, execution(config))
            assert outcomes["WebSocket"] == "closed", outcomes
            assert "launchRun" not in str(outcomes), outcomes
    assert (protected.runs(), protected.backfills()) == ([], [])
    assert not file.exists()
    assert attacker.requests == []


def test_page_under_a_foreign_host_name_of_this_machine_gets_a_sentence(
    protected: Served, chromium: Callable[[], Chrome]
) -> None:
    driver = chromium()
    driver.get(f"http://attacker.localhost:{urlsplit(protected.url).port}/runs")
    assert "does not answer requests to the host 'attacker.localhost:" in driver.page_source
    # Such a page may read what it requests, as with a host name whose address changes.
    posted = """
        const [body, done] = arguments;
        const headers = {"Content-Type": "application/json"};
        fetch("/graphql", {method: "POST", headers, body}).then((answer) => answer.text()).then(done, done);
    """
    answer = driver.execute_async_script(posted, json.dumps({"query": LAUNCH, "variables": execution({})}))
    assert "does not answer requests to the host" in answer
    assert protected.runs() == []


def test_foreign_page_starts_at_most_a_run_as_configured_of_bare_dagster_dev(
    bare: Served, attacker: Attacker, chromium: Callable[[], Chrome], tmp_path: Path
) -> None:
    driver, file = chromium(), tmp_path / "made_by_the_attacker"
    page = f"http://attacker.localhost:{attacker.port}"
    attack(driver, page, bare.url, execution(attacker.config(file)))
    assert bare.runs() == []
    answer = bare.launch_answer("evaluate_memory", attacker.config(file))
    assert answer["__typename"] == "RunConfigValidationInvalid"
    assert 'unexpected config entry "config" at path root:resources:models' in answer["errors"][0]["message"]

    attack(driver, page, bare.url, execution({}))
    assert bare.runs(), "Dagster's own server executes what a foreign page sends"
    assert not file.exists()
    assert attacker.requests == []
