"""The commands domains, data, init and doctor."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from stub import stub_process

from memflow.benchmarks import registry
from memflow.resources.settings.settings import example


def test_domains_command_lists_every_registered_domain(empty) -> None:
    domains = empty.json("domains")
    assert [row["domain"] for row in domains] == list(registry.domains())
    Path("memflow.toml").write_text(
        '[own_domains.longer]\nbenchmark = "amemgym"\ndatasets = ["personas_sample"]\n',
        encoding="utf-8",
    )
    shown = empty("domains").stdout
    assert "amemgym_demo" in shown and "longer" in shown


def test_domains_command_lists_the_samples_of_each_domain(empty) -> None:
    text = 'domains = ["amemgym_demo~1", "amemgym_demo", "amemgym_demo~2"]\n'
    Path("memflow.toml").write_text(text, encoding="utf-8")
    samples = {row["domain"]: row["samples"] for row in empty.json("domains")}
    assert samples["amemgym_demo"] == ["amemgym_demo~1", "amemgym_demo~2"] and samples["comem_demo"] == []
    assert "Samples: amemgym_demo~1, amemgym_demo~2." in empty("domains").stdout


def test_init_command_writes_example_settings_and_overwrites_only_with_force(empty) -> None:
    assert "memflow doctor" in empty("init").stdout
    assert Path("memflow.toml").read_text(encoding="utf-8") == example()
    Path("memflow.toml").write_text("home = 'mine'", encoding="utf-8")
    assert "--force" in empty.error("init")
    assert Path("memflow.toml").read_text(encoding="utf-8") == "home = 'mine'"
    assert empty("init", "--force").exit_code == 0
    assert Path("memflow.toml").read_text(encoding="utf-8") == example()


def findings(result) -> dict[str, dict]:
    return {row["what"]: row for row in json.loads(result.stdout)}


def test_doctor_command_accepts_the_example_settings(empty) -> None:
    empty("init")
    result = empty("doctor", "--format", "json")
    assert result.exit_code == 0
    assert findings(result)["model scripted"]["found"] == "scripted, not a language model"
    assert findings(result)["data folder"]["state"] == "absent"


def test_doctor_command_reports_a_fix_for_every_missing_item(empty, tmp_path: Path) -> None:
    (tmp_path / "memflow.toml").write_text(
        'domains = ["amemgym_demo"]\ndata = "nowhere"\n'
        '[models.down]\nurl = "http://127.0.0.1:9/v1"\nmodel = "a/b"\n'
        '[models.own]\nkind = "vllm"\nmodel = "a/b"\nexecutable = "no-such-vllm"\n'
        '[roles]\nsimulator = "down"\nassistant = "own"\n'
        '[embedder]\nkind = "folder"\nmodel = "no-such-folder"\n'
        '[memories.broken]\npath = "no_such_module:Mine"\n[memories.fine]\nsystem = "rag"\n',
        encoding="utf-8",
    )
    result = empty("doctor", "--format", "json")
    assert result.exit_code == 1
    found = findings(result)
    assert found["memory fine"]["state"] == "ok" and found["memory broken"]["state"] == "absent"
    for what in ("data folder", "model down", "model own", "embedder"):
        assert found[what]["state"] == "missing" and found[what]["fix"], what
    assert "127.0.0.1:9" in found["model down"]["found"]
    assert "no-such-vllm" in found["model own"]["found"]


def test_doctor_command_requests_the_model_list_and_follows_no_redirect(empty, tmp_path: Path) -> None:
    def doctor(url: str) -> dict[str, str]:
        settings = f'[models.m]\nurl = "{url}"\nmodel = "stub"\n[roles]\njudge = "m"\n'
        (tmp_path / "memflow.toml").write_text(settings, encoding="utf-8")
        return findings(empty("doctor", "--format", "json"))["model m"]

    class Moved(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"http://user:password@localhost{self.path}")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with stub_process() as url:
        assert doctor(url)["found"] == f"stub at {url}"
        assert doctor(url.replace("/v1", "/v2"))["state"] == "missing"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Moved)
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = doctor(f"http://127.0.0.1:{server.server_port}/v1")
        server.shutdown()
    assert found["state"] == "missing" and "redirects to http://localhost/v1/models" in found["found"]
    assert "password" not in json.dumps(found)


def test_doctor_command_names_an_unknown_setting(empty, tmp_path: Path) -> None:
    (tmp_path / "memflow.toml").write_text("hoem = 'x'", encoding="utf-8")
    result = empty("doctor", "--format", "json")
    assert result.exit_code == 1
    assert "hoem" in findings(result)["settings"]["found"]
