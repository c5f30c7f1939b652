"""`python -m bench.model`: the requests of a run, how they are sent, and the comparison with `vllm bench serve`."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_vllm import fake_vllm
from stub import stub_process

from bench.model import (
    MixedRequest,
    Phase,
    kv_tokens,
    kv_use,
    main,
    record_mix,
    select_requests,
    send_requests,
)
from memflow.chat.requests import ChatRequest, Completion
from memflow.errors import EndpointDown, RequestRefused
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.settings import Settings


@pytest.fixture(scope="module")
def mix() -> list[MixedRequest]:
    settings = Settings(models={"m": Model(url="http://127.0.0.1:1/v1", model="m")})
    return record_mix(settings, "m", "amemgym_demo~1", ["awi"], most_output=100)


def text_of(mixed: MixedRequest) -> str:
    return mixed.request.messages_json


def test_mix_has_play_answers_and_judgments_in_prefix_order(mix: list[MixedRequest]) -> None:
    assert {(mixed.stage, mixed.role) for mixed in mix} == {
        *(("memory", "assistant"), ("memory", "memory"), ("memory", "simulator")),
        *(("answer", "assistant"), ("score", "judge")),
    }
    replies = [mixed for mixed in mix if (mixed.stage, mixed.role) == ("memory", "assistant")]
    assert {mixed.output_tokens for mixed in replies} == {100}
    for stage in ("memory", "answer", "score"):
        texts = [text_of(mixed) for mixed in mix if mixed.stage == stage]
        assert texts == sorted(texts) and len(set(texts)) == len(texts)


def test_selections_are_distinct_by_their_first_line_and_keep_the_order(mix: list[MixedRequest]) -> None:
    chosen = select_requests(mix, 2 * len(mix) + 20, "a")
    assert len({text_of(mixed) for mixed in chosen}) == len(chosen) == 2 * len(mix) + 20
    assert {mixed.request.messages[0].content.split("\n")[0] for mixed in chosen} == {"a.0", "a.1", "a.2"}
    whole = [text_of(mixed.with_marker("a.2")) for mixed in mix]
    rest = [whole.index(text_of(mixed)) for mixed in chosen[-20:]]
    assert rest == sorted(rest)
    plain = [mixed.plain().request for mixed in chosen]
    assert all(len(request.messages) == 1 and request.output is None for request in plain)


class RecordedChat:
    """A chat that records its requests and raises the given errors."""

    def __init__(self, fails: Callable[[int], Exception | None]) -> None:
        self.requests: list[ChatRequest] = []
        self.fails = fails

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        error = self.fails(len(self.requests))
        if error is not None:
            raise error
        return Completion("text", prompt_tokens=10, completion_tokens=2, cached_tokens=4)


async def test_requests_are_sent_in_order_and_failures_are_counted_by_reason(mix: list[MixedRequest]) -> None:
    chat: Any = RecordedChat(lambda number: RequestRefused("too long") if number % 5 == 0 else None)
    row = (await send_requests("x", mix[:20], chat, chat, 4)).row()
    assert [request.messages_json for request in chat.requests] == [text_of(mixed) for mixed in mix[:20]]
    assert (row["requests"], row["failed"], row["failures"]) == (16, 4, {"too long": 4})
    assert (row["prompt_tokens"], row["output_tokens"], row["cached_share"]) == (160, 32, 0.4)
    assert row["requests_per_s"] > 0 and row["p50_s"] <= row["p99_s"]
    down: Any = RecordedChat(lambda number: EndpointDown("down"))
    with pytest.raises(EndpointDown, match="down"):
        await send_requests("x", mix[:3], down, down, 2)


def test_steady_rate_leaves_out_the_start_and_the_tail_of_a_phase() -> None:
    phase = Phase("x", ends=[1.0, 2.0, 2.5, 3.0, 3.5, 9.0], last_sent=3.5, concurrency=2)
    assert phase.steady_per_s == 2.0
    assert Phase("x", ends=[1.0, 9.0], last_sent=0.5, concurrency=2).steady_per_s is None


def test_use_and_size_of_the_kv_cache_come_from_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = (
        'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25\n'
        'vllm:cache_config_info{block_size="16",cache_dtype="auto",engine="0",num_gpu_blocks="50898"} 1.0\n'
    )
    monkeypatch.setattr("bench.model.read_text", lambda url: metrics)
    assert (kv_use("http://server/v1"), kv_tokens("http://server/v1")) == (0.25, 814_368)
    monkeypatch.setattr("bench.model.read_text", lambda url: "other 1.0\n")
    assert (kv_use("http://server/v1"), kv_tokens("http://server/v1")) == (None, None)


OPTIONS = ("served", "--domain", "amemgym_demo~1", "--memory", "awi", "--requests", "20")


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[dict[str, Any]], str]]:
    """Return a function that runs the command with a model, and returns its exit code, rows and error."""
    monkeypatch.chdir(tmp_path)

    def run(model: str, *options: str) -> tuple[int, list[dict[str, Any]], str]:
        Path("memflow.toml").write_text(f"home = 'home'\n[models.served]\nconcurrency = 8\n{model}\n")
        code = main([*OPTIONS, *options])
        shown = capsys.readouterr()
        return code, [json.loads(line) for line in shown.out.splitlines()], shown.err

    return run


def test_bench_prints_each_phase_and_stores_nothing(run: Any, tmp_path: Path) -> None:
    with stub_process(model="stub") as url:
        code, rows, _ = run(f'url = "{url}"\nmodel = "stub"')
    assert [row.get("phase") for row in rows[1:]] == [
        *("warm-up", "prefix order", "shuffled", None, "one message", "vllm bench serve")
    ]
    assert code == 0 and "`vllm bench serve` wrote no result" in rows[-1]["not_run"]
    assert [(row["requests"], row["failed"]) for row in rows[2:4]] == [(20, 0)] * 2
    assert Counter(row["stage"] for row in rows[0]["mix"]).keys() == {"memory", "answer", "score"}
    assert not (tmp_path / "home").exists()


def test_bench_starts_a_vllm_server_and_leaves_long_requests_out(run: Any, tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", options="--version 0.32.0 --max-model-len 2200")
    model = f'kind = "vllm"\nmodel = "tiny"\nexecutable = "{program}"'
    code, rows, _ = run(model, "--no-vllm", "--answer-tokens", "16")
    assert code == 0 and rows[0]["vllm"] == "0.32.0" and rows[0]["left_out"] > 0
    assert [row["failed"] for row in rows if "phase" in row] == [0, 0, 0]


def test_bench_ends_with_a_sentence(run: Any) -> None:
    with stub_process(model="stub", die_after=10, down=60) as url:
        code, _, error = run(f'url = "{url}"\nmodel = "stub"\npatience = 1')
    assert code == 1 and "Cannot connect to" in error
    code, rows, error = run('kind = "scripted"')
    assert (code, rows) == (1, []) and "is the scripted chat" in error
