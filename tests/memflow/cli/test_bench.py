"""`memflow bench model`: figures of the requests of a run, as text and JSON; nothing is stored."""

import json
from pathlib import Path

from fake_vllm import fake_vllm, is_alive, workers
from stub import stub_process


def write_settings(lines: str) -> None:
    Path("memflow.toml").write_text(f"[models.served]\nconcurrency = 8\n{lines}\n", encoding="utf-8")


OPTIONS = ("bench", "model", "served", "--domain", "amemgym_demo~1", "--memory", "awi", "--requests", "20")


def test_bench_sends_the_requests_in_both_orders_and_stores_nothing(empty, monkeypatch) -> None:
    with stub_process(model="stub") as url:
        write_settings(f'url = "{url}"\nmodel = "stub"')
        result = empty.json(*OPTIONS)
        shown = {}
        for columns in ("80", "140"):
            monkeypatch.setenv("COLUMNS", columns)
            shown[columns] = empty(*OPTIONS, "--no-vllm").stdout
            assert max(map(len, shown[columns].splitlines())) <= int(columns)
    assert [row["phase"] for row in result["phases"]] == ["prefix order", "shuffled", "one message"]
    assert [(row["requests"], row["failed"]) for row in result["phases"]] == [(20, 0)] * 3
    assert all(row["requests_per_s"] > 0 and row["prompt_tokens"] > 0 for row in result["phases"])
    assert result["ratio"] is None and "vllm was not found" in result["vllm_bench"]["not_run"]
    assert sum(row["requests"] for row in result["mix"]) > 20 and result["left_out"] == 0
    assert {len(row) for row in result["phases"]} == {len(result["phases"][0])}
    assert "prefix order" in shown["80"] and "one message" not in shown["80"]
    stored = [path for path in empty.folder.rglob("*") if path.is_file()] if empty.folder.exists() else []
    assert stored == []


def test_bench_starts_a_vllm_server_and_leaves_long_requests_out(empty, tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", options="--version 0.32.0 --max-model-len 2200")
    write_settings(f'kind = "vllm"\nmodel = "tiny"\nexecutable = "{program}"\nidle = 0')
    ran = empty(*OPTIONS, "--no-vllm", "--answer-tokens", "16", "--json")
    assert ran.exit_code == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["vllm"] == ["0.32.0"] and result["left_out"] > 0
    assert [row["failed"] for row in result["phases"]] == [0, 0]
    assert result["server"]["replicas"][0]["startup_s"] > 0
    assert not any(map(is_alive, workers(tmp_path / "fake")))


def test_bench_ends_with_a_sentence_if_the_server_ends(empty) -> None:
    with stub_process(model="stub", die_after=10, down=60) as url:
        write_settings(f'url = "{url}"\nmodel = "stub"\npatience = 1')
        assert "Cannot connect to" in empty.error(*OPTIONS)


def test_bench_rejects_the_scripted_chat_and_names_an_unreachable_address(empty) -> None:
    write_settings('url = "http://127.0.0.1:1/v1"\nmodel = "stub"')
    assert "cannot connect" in empty.error(*OPTIONS)
    assert "is the scripted chat" in empty.error("bench", "model", "scripted")
