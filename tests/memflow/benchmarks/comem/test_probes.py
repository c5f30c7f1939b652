"""Keys by rule and as published, and the probes they make."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from memflow.benchmarks.api import States
from memflow.benchmarks.comem import CoMem
from memflow.benchmarks.comem.annotation.labels import keys_by
from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Asked, Context, Known
from memflow.benchmarks.comem.probes import probes_of
from memflow.benchmarks.domains import Domain
from memflow.records import GoldLabel, Probe, Record

Made = Callable[..., Context]
CHANGING = Asked("q", "?", ("a", "b", "I don't know."), 2, known=(Known(1, 1, (0,)), Known(6, 2, (4, 5))))
DOMAIN = Domain("d", "comem", (), "")


def made(context: Context, **settled: object) -> list[Probe]:
    parameters = Parameters.model_validate({"keys": "rule", **settled})
    keys = keys_by(parameters.keys, DOMAIN, [context], parameters)
    return list(probes_of("d", [context], keys, parameters))


def test_keys_by_rule_follow_what_was_said_by_then(context: Made):
    probes = made(context(8, [CHANGING]))
    assert [(probe.checkpoint, probe.gold) for probe in probes] == [
        (0, "1"), (1, "1"), (2, "1"), (3, "2"), (4, "2"),
    ]  # fmt: skip
    assert [probe.evidence for probe in probes][2:4] == [["c/0.0"], ["c/2.4", "c/2.5"]]
    assert {probe.question_id for probe in probes} == {"c/q"}


@pytest.mark.parametrize(("guess_key", "gold"), [("first", "1"), ("last", "2")])
def test_the_guess_is_graded_by_the_first_or_the_last_key(context: Made, guess_key: str, gold: str):
    guess = made(context(8, [CHANGING]), guess_key=guess_key)[0]
    assert (guess.checkpoint, guess.gold, guess.revealed) == (0, gold, "")


def test_a_published_answer_is_the_key_of_every_checkpoint(context: Made):
    assert [probe.gold for probe in made(context(8, [CHANGING]), keys="published")] == ["2"] * 5


def test_where_there_is_no_telling_a_question_is_dropped_or_gets_an_option_that_says_so(context: Made):
    asked = Asked("q", "?", ("a", "b"), known=(Known(5, 1, (4,)),))
    keys = keys_by("rule", DOMAIN, [context(8, [asked])], Parameters())
    assert {key.dropped for key in keys} == {
        "no option is right at checkpoint 1, 2, where there is no telling"
    }
    assert made(context(8, [asked])) == []
    probes = made(context(8, [asked]), unknown="option")
    assert probes[0].options == ["a", "b", "I don't know."]
    assert [probe.gold for probe in probes] == ["3", "3", "3", "1", "1"]


def test_a_question_without_a_rule_is_a_probe_with_its_reason(context: Made):
    probes = made(context(8, [Asked("q", "?", ("a", "b"))]))
    assert len(probes) == 5
    assert {probe.reason for probe in probes} == {
        "c/q has no rule: its source does not say from when on what is right"
    }


def test_a_question_that_is_asked_early_names_the_last_message_before_it(context: Made):
    probes = made(context(8, [replace(CHANGING, end=7)]))
    assert [probe.after for probe in probes] == [None, None, None, None, "c/3.6"]


def test_the_demo_is_asked_at_five_checkpoints(bench: CoMem, demo: Domain, records: list[Record]):
    async def build() -> tuple[list[GoldLabel], list[Probe]]:
        keys = await bench.keys(demo, records, [], None)
        return keys, await bench.probes(demo, records, States(), [], None, keys)  # type: ignore[arg-type]

    keys, probes = asyncio.run(build())
    assert len(keys) == 4 * 22 and len(probes) == 5 * 22
    assert {probe.checkpoint for probe in probes} == {0, 1, 2, 3, 4}
    assert not [row for row in (*keys, *probes) if row.reason]
    work = [probe for probe in probes if probe.question_id == "ana/work"]
    assert [probe.options[int(probe.gold) - 1] for probe in work] == [
        "by bus", "by bus", "by bicycle", "on foot", "on foot",
    ]  # fmt: skip
