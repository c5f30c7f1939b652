"""The benchmark of a model: its requests, how they are sent, and the comparison with `vllm bench serve`."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memflow.chat.conversation import conversation_key
from memflow.chat.requests import ChatRequest, Completion
from memflow.errors import BadInput, EndpointDown, RequestRefused
from resources.model_bench.mix import MixedRequest, record_mix, select_requests, shuffled
from resources.model_bench.sending import percentile, send_requests, sum_metric
from resources.model_bench.vllm_bench import bench_command, run_bench, write_requests
from resources.settings.chat_models import Model
from resources.settings.settings import Settings


@pytest.fixture(scope="module")
def mix() -> list[MixedRequest]:
    settings = Settings(models={"m": Model(url="http://127.0.0.1:1/v1", model="m")})
    return record_mix(settings, "m", "amemgym_demo~1", ["awi"], most_output=100)


def text_of(request: MixedRequest) -> str:
    return request.request.messages_json


def test_mix_has_play_answers_and_judgments_but_not_the_generation_of_users(mix: list[MixedRequest]) -> None:
    found = Counter((each.stage, each.role) for each in mix)
    assert {*found} == {
        *(("memory", "assistant"), ("memory", "memory"), ("memory", "simulator")),
        *(("answer", "assistant"), ("score", "judge")),
    }
    assert all(1 <= each.output_tokens <= 100 for each in mix)
    replies = [each for each in mix if (each.stage, each.role) == ("memory", "assistant")]
    assert {each.output_tokens for each in replies} == {100}
    assert {each.request.output is None for each in mix if each.stage == "answer"} == {False}


def test_requests_of_play_and_answers_belong_to_their_episode(mix: list[MixedRequest]) -> None:
    episodes = {
        stage: {each.episode for each in mix if each.stage == stage} for stage in ("memory", "answer")
    }
    assert (
        episodes["memory"] == episodes["answer"]
        and len(episodes["memory"]) == 1
        and "" not in episodes["memory"]
    )
    assert {each.assistant for each in mix if each.episode} == {("amemgym_demo~1", "awi")}


def test_mix_is_in_prefix_order(mix: list[MixedRequest]) -> None:
    for stage in ("memory", "answer", "score"):
        texts = [text_of(each) for each in mix if each.stage == stage]
        assert texts == sorted(texts) and len(set(texts)) == len(texts)
    assert [each.stage for each in mix] == sorted(
        (each.stage for each in mix), key=["memory", "answer", "score"].index
    )


def test_selections_are_distinct_by_their_first_line_and_keep_the_order(mix: list[MixedRequest]) -> None:
    size = len(mix)
    chosen = select_requests(mix, 2 * size + 20, "a")
    assert len(chosen) == 2 * size + 20
    assert {each.request.messages[0].content.split("\n")[0] for each in chosen} == {"a.0", "a.1", "a.2"}
    assert len({text_of(each) for each in chosen}) == len(chosen)
    whole = [text_of(each.with_marker("a.2")) for each in mix]
    rest = [whole.index(text_of(each)) for each in chosen[-20:]]
    assert rest == sorted(rest)
    mixed = shuffled(chosen)
    assert mixed != chosen and Counter(map(text_of, mixed)) == Counter(map(text_of, chosen))
    assert all(each.request.sampling.max_tokens >= each.output_tokens for each in chosen)


def test_plain_requests_are_one_message_without_schema(mix: list[MixedRequest], tmp_path: Path) -> None:
    plain = [each.plain() for each in select_requests(mix, 30, "f")]
    assert all(len(each.request.messages) == 1 and each.request.output is None for each in plain)
    write_requests(plain, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    assert [row["output_tokens"] for row in rows] == [each.output_tokens for each in plain]
    assert rows[0]["prompt"] == plain[0].request.messages[0].content


class RecordedChat:
    """A chat that records its requests and raises the given errors."""

    def __init__(self, fails: Callable[[int], Exception | None] = lambda number: None) -> None:
        self.requests: list[ChatRequest] = []
        self.conversations: list[str] = []
        self.fails = fails

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        self.conversations.append(conversation_key())
        error = self.fails(len(self.requests))
        if error is not None:
            raise error
        return Completion("text", prompt_tokens=10, completion_tokens=2, cached_tokens=4)


async def test_requests_are_sent_in_order_and_failures_are_counted_by_reason(mix: list[MixedRequest]) -> None:
    chat = RecordedChat(lambda number: RequestRefused("too long") if number % 5 == 0 else None)
    phase = await send_requests("x", mix[:20], lambda each: chat, 4)  # type: ignore[arg-type, return-value]
    assert [each.messages_json for each in chat.requests] == [text_of(each) for each in mix[:20]]
    assert (
        len({*chat.conversations}) == len({each.episode for each in mix[:20]})
        and "" not in chat.conversations
    )
    row = (phase + replace(phase)).row()
    assert (row["requests"], row["failed"], row["failures"]) == (32, 8, {"too long": 8})
    assert (row["prompt_tokens"], row["output_tokens"], row["cached_share"]) == (320, 64, 0.4)
    assert row["requests_per_s"] > 0 and row["p50_s"] <= row["p99_s"]
    alone = RecordedChat()
    await send_requests("x", mix[:5], lambda each: alone, 4, in_conversations=False)  # type: ignore[arg-type, return-value]
    assert {*alone.conversations} == {""}
    down = RecordedChat(lambda number: EndpointDown("down"))
    with pytest.raises(EndpointDown, match="down"):
        await send_requests("x", mix[:3], lambda each: down, 2)  # type: ignore[arg-type, return-value]


def test_percentiles_are_nearest_ranks_and_metrics_are_summed_over_labels() -> None:
    assert [percentile([1, 2, 3, 4], share) for share in (50, 90, 99)] == [2, 4, 4]
    assert percentile([], 50) is None
    text = '# HELP a\na_sum{x="1"} 2.5\na_sum{x="2"} 1\na_sum_other 9\na_count 3\n'
    assert sum_metric(text, ("a_sum", "a_count", "b")) == (3.5, 3.0, 0.0)


PROGRAM = """#!{python}
import json, sys
words = sys.argv
of = lambda name: words[words.index(name) + 1]
rows = [json.loads(line) for line in open(of("--dataset-path"))]
assert words[1:3] == ["bench", "serve"] and of("--base-url") == "http://127.0.0.1:9", words
assert len(rows) == int(of("--num-prompts")) and all("output_tokens" in row for row in rows)
{more}
result = {{"completed": len(rows), "failed": 0, "request_throughput": len(rows) / 2, "mean_ttft_ms": 5.0}}
json.dump(result, open(of("--result-dir") + "/" + of("--result-filename"), "w"))
"""


async def test_vllm_bench_gets_the_requests_and_its_result_is_read(
    mix: list[MixedRequest], tmp_path: Path
) -> None:
    program = tmp_path / "vllm"

    def command(more: str = "") -> list[str]:
        program.write_text(PROGRAM.format(python=sys.executable, more=more))
        program.chmod(0o755)
        return bench_command(str(program), "http://127.0.0.1:9/v1", "tiny", "folder", 4, 2, tmp_path)

    write_requests([each.plain() for each in select_requests(mix, 4, "f")], tmp_path)
    figures = await run_bench(command(), tmp_path)
    assert (figures["request_throughput"], figures["failed"], figures["completed"]) == (2.0, 0, 4)
    (tmp_path / "result.json").unlink()
    with pytest.raises(BadInput, match=r"exit status 3\)\. Its output ends: no tokenizer"):
        await run_bench(command("print('no tokenizer'); sys.exit(3)"), tmp_path)
    with pytest.raises(BadInput, match=r"more than 0.5 s"):
        await run_bench(command("import time; time.sleep(60)"), tmp_path, 0.5)
    with pytest.raises(BadInput, match="no-such-vllm was not found"):
        await run_bench(["no-such-vllm"], tmp_path)
