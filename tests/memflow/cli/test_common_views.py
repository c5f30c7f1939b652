"""`memflow show statistics` and `memflow show simulators`, which every benchmark has."""

import factories
import pytest
from generated import generate

from memflow.benchmarks.common_views.statistics import statistics_of
from memflow.records import PublishedScore
from memflow.tokens import estimate

DOMAIN = "amemgym_demo~1"


def test_statistics_of_amemgym_are_those_of_its_table_4(measured) -> None:
    [whole] = [row for row in measured.json("show", "statistics")["statistics"] if row["slice"] == "all"]
    turns, probes = (measured.lake.read(name, DOMAIN) for name in ("utterance.turns", "question.probes"))
    choices = [probe for probe in probes if probe.kind == "choice" and not probe.opens]
    assert (whole["trajectories"], whole["periods"]) == (1, len({turn.checkpoint for turn in turns}))
    # A session of AMemGym is one message of the user that opens it, with its follow-ups.
    assert whole["sessions"] == whole["messages"] == len(turns) == whole["sessions_per_trajectory"]
    assert whole["questions"] == len({probe.question for probe in choices}) < len(choices)
    assert whole["tokens_per_trajectory"] == pytest.approx(
        sum(estimate(turn.text) for turn in turns), abs=len(turns)
    )


def test_statistics_of_membench_are_those_of_its_tables_2_8_and_9() -> None:
    made = generate("membench_demo")
    rows = {row.slice: row for row in statistics_of(made.domain, made.turns, made.probes)}
    assert rows["all"].trajectories == len({probe.episode_id for probe in made.probes})
    parts = [rows["level factual"], rows["level reflective"]]
    for name in ("trajectories", "sessions", "messages", "questions"):
        assert getattr(rows["all"], name) == sum(getattr(part, name) for part in parts)
    # The session of a message is the first of the two numbers at the end of its id.
    kind = [probe.episode_id for probe in made.probes if probe.category == "highlevel_rec"]
    own = {turn.message_id.rpartition(".")[0] for turn in made.turns if turn.episode_id in kind}
    assert rows["category highlevel_rec"].sessions == len(own) > len(kind)


def published(
    simulator: str | None, model: str, value: float, number: int = 1, **more: object
) -> PublishedScore:
    return factories.row(
        PublishedScore, domain="memorybench_demo", assistant=f"full@{model}", memory="full", model=model,
        metric="locomo_f1", value=value, publication=number, simulator_model=simulator, **more,
    )  # fmt: skip


def test_simulators_have_the_newest_scores_by_simulator_and_backbone(empty) -> None:
    rows = [
        published("large (1a2b)", "qwen", 0.5), published("large (1a2b)", "mistral", 0.6),
        published("small (3c4d)", "qwen", 0.3, 2), published("small (3c4d)", "qwen", 0.4, 3),
        published("small (3c4d)", "qwen", 0.9, 3, slice="dataset locomo"),
        published("small (3c4d)", "qwen", 0.9, 3, variant="published_code"), published(None, "qwen", 0.9, 3),
        published("small (3c4d)", "mistral", 0.9, 3, removed=True),
    ]  # fmt: skip
    empty.write("score.history", "all", rows)
    records = empty.json("show", "simulators")["scores"]
    assert {(row["simulator"], row["model"]): row["value"] for row in records} == {
        ("large", "qwen"): 0.5, ("large", "mistral"): 0.6, ("small", "qwen"): 0.4,
    }  # fmt: skip
    message = empty.error("show", "simulators", "--domain", "locomo")
    assert "'locomo' has no results with simulated users" in message and "memorybench_demo" in message
