"""`memflow models`: the list of models, and the check of an endpoint."""

import json
import tomllib
from pathlib import Path

from stub import stub_process


def write_settings(url: str) -> None:
    Path("memflow.toml").write_text(
        f"""
        assistants = ["full@hosted"]
        [models.hosted]
        url = "{url}"
        model = "stub"
        preset = "deepseek"
        profile = {{ window = 65536 }}
        price_in = 0.3
        price_out = 1.2
        [roles]
        judge = "hosted"
        """,
        encoding="utf-8",
    )


def test_models_command_lists_roles_profile_and_prices(empty) -> None:
    write_settings("http://127.0.0.1:1/v1")
    scripted, hosted = empty.json("models")
    assert (scripted["model"], scripted["address"]) == ("scripted", "no model")
    assert hosted["roles"] == ["judge", "full@hosted"]
    assert (hosted["preset"], hosted["changed fields"]) == ("deepseek", ["window"])
    assert "0.3 / 1.2" in empty("models").stdout


def test_models_check_prints_the_profile_that_the_endpoint_accepts(empty) -> None:
    with stub_process() as url:
        write_settings(url)
        result = empty.json("models", "check", "hosted")
        shown = empty("models", "check", "hosted").stdout
    assert (result["preset"], result["fields"], result["fits"]) == ("vllm", {}, False)
    assert "accepts the default" in shown
    assert "not stated by the server" in shown
    proposed = shown[shown.index("[models.hosted]") :].split("\n\n")[0]
    assert tomllib.loads(proposed) == {"models": {"hosted": {"preset": "vllm"}}}


def test_models_check_names_the_setting_of_an_unreachable_address(empty) -> None:
    write_settings("http://127.0.0.1:1/v1")
    result = empty("models", "check", "hosted")
    assert result.exit_code == 1
    assert "127.0.0.1:1" in result.stderr and "`url`" in result.stderr


def test_models_check_rejects_a_model_without_an_address(empty) -> None:
    result = empty("models", "check", "scripted")
    assert result.exit_code == 1
    assert "no address" in result.stderr


def test_models_check_shows_each_finding_when_it_is_made_and_records_the_window(empty) -> None:
    with stub_process(max_model_len=4096) as url:
        write_settings(url)
        result = empty("models", "check", "hosted")
    shown = result.stderr.splitlines()
    assert shown[0].startswith("memflow: about ten requests to stub at http://")
    assert any(line.startswith("memflow: bound: ") for line in shown)
    assert "4,096 tokens; the setting `window = 65536` has priority" in " ".join(result.stdout.split())
    assert json.loads((empty.folder / "windows.json").read_text(encoding="utf-8")) == {f"{url} stub": 4096}
