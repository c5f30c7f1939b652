"""`memflow models`: the list of models, and the check of an endpoint."""

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


def test_models_command_lists_the_addresses_of_running_vllm_servers(empty, monkeypatch) -> None:
    urls = [f"http://gpu-{number}.example.com:8000/v1" for number in (1, 2)]
    Path("memflow.toml").write_text(
        f'[models.large]\nkind = "vllm"\nmodel = "large"\nurls = {urls}\n', encoding="utf-8"
    )
    monkeypatch.setenv("COLUMNS", "80")
    assert empty.json("models")[1]["address"] == ", ".join(urls)
    shown = empty("models").stdout
    assert all(any(url in line for line in shown.splitlines()) for url in urls)


def test_models_check_prints_the_profile_that_the_endpoint_accepts(empty) -> None:
    with stub_process() as url:
        write_settings(url)
        result = empty.json("models", "check", "hosted")
        shown = empty("models", "check", "hosted").stdout
    assert (result["preset"], result["fields"], result["fits"]) == ("vllm", {}, False)
    assert "follows a JSON schema" in shown
    proposed = shown[shown.index("[models.hosted]") :].split("\n\n")[0]
    assert tomllib.loads(proposed) == {"models": {"hosted": {"preset": "vllm"}}}


def test_models_check_examines_each_address_and_reports_one_that_differs(empty) -> None:
    with stub_process() as one, stub_process() as two, stub_process(provider="openai") as other:
        write_settings(one)
        settings = Path("memflow.toml")
        text = settings.read_text(encoding="utf-8").replace(f'url = "{one}"', f'urls = ["{one}", "{two}"]')
        settings.write_text(text, encoding="utf-8")
        same = empty.json("models", "check", "hosted")
        settings.write_text(text.replace(two, other), encoding="utf-8")
        result = empty.json("models", "check", "hosted")
        shown = empty("models", "check", "hosted").stdout
    assert same["addresses"] == [{"address": one, "differs": False}, {"address": two, "differs": False}]
    assert result["addresses"] == [{"address": one, "differs": False}, {"address": other, "differs": True}]
    assert result["requests"] >= 20
    assert "which differs" in shown and "All addresses of a model need the same profile" in shown


def test_models_check_names_the_setting_of_an_unreachable_address(empty) -> None:
    write_settings("http://127.0.0.1:1/v1")
    result = empty("models", "check", "hosted")
    assert result.exit_code == 1
    assert "127.0.0.1:1" in result.stderr and "`url`" in result.stderr


def test_models_check_rejects_a_model_without_an_address(empty) -> None:
    result = empty("models", "check", "scripted")
    assert result.exit_code == 1
    assert "no address" in result.stderr
