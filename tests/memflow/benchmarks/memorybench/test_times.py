"""Times by task format; an unmeasured time is null, not zero."""

from dataclasses import replace

import factories
import pytest

from memflow.benchmarks.memorybench.times import times_of
from memflow.records import Probe

PROBE = factories.probe(
    probe_id="sample_open/1", episode_id="dialogues", kind="open", split="train", dataset="sample_open",
    metric="rouge_l", gold="",
)  # fmt: skip
LINE = factories.transcript_message(
    assistant="rag", episode_id="dialogues", message_id="feedback/sample_open/1/0", text="?", origin="given",
)  # fmt: skip
REPLY = factories.reply(assistant="rag", probe_id="sample_open/1", episode_id="dialogues")
TURN = factories.turn(episode_id="locomo/1", message_id="locomo/1/D1:1", kind="given", text="Hello.")


def case(name: str, dataset: str, **given: object) -> Probe:
    return replace(PROBE, probe_id=name, dataset=dataset, **given)  # type: ignore[arg-type]


def test_times_are_summed_per_task_format_over_dialogues_cases_and_corpora():
    probes = [
        case("sample_open/1", "sample_open"),  # SiLo
        case("sample_open/2", "sample_open", split="test"),
        case("locomo/1/q1", "memorybench_sample", split="test", episode_id="locomo/1"),  # LiSo
    ]
    said = [
        LINE,
        replace(LINE, position=1, message_id="feedback/sample_open/1/1", models_s=2.0, own_s=0.5),
        replace(LINE, event=1, message_id="feedback/sample_open/1@2/1", models_s=0.0, own_s=0.5),
        replace(LINE, episode_id="locomo/1", message_id="locomo/1/D1:1", models_s=1.0, own_s=0.25),
        replace(LINE, episode_id="locomo/1", message_id="locomo/1/D2:1", models_s=1.0, own_s=0.25),
    ]
    turns = [TURN, replace(TURN, message_id="locomo/1/D2:1", event=1)]
    replies = [
        replace(REPLY, probe_id="sample_open/2", models_s=1.0, own_s=0.5, latency_s=2.0),
        replace(REPLY, probe_id="locomo/1/q1", models_s=0.0, own_s=0.125, latency_s=4.0),
    ]
    long_input, long_output = times_of("d", "rag", said, replies, probes, turns)
    assert (long_output["format"], long_output["dialogues"], long_output["cases"]) == ("SiLo", 2, 1)
    assert (long_output["memory_s"], long_output["memory_own_s"]) == pytest.approx((1.5, 0.5))
    assert (long_output["predict_s"], long_output["recall_s"], long_output["recall_own_s"]) == (3.5, 1.5, 0.5)
    assert (long_output["corpora"], long_output["corpus_s"]) == (0, None)
    assert (long_input["format"], long_input["dialogues"], long_input["memory_s"]) == ("LiSo", 0, None)
    assert (long_input["corpora"], long_input["corpus_s"]) == (1, 2.5)
    assert (long_input["predict_s"], long_input["recall_own_s"]) == (4.125, 0.125)
