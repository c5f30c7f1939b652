"""Rule-based labels, published labels, and their probes."""

from collections.abc import Callable

import pytest

from memflow.benchmarks.comem.annotation.labels import labels_from_source
from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextQuestion, KnownAnswer
from memflow.benchmarks.comem.probes import make_probes
from memflow.benchmarks.domains import Domain
from memflow.records import Probe

Made = Callable[..., Context]
CHANGING = ContextQuestion(
    "q", "?", ("a", "b", "I don't know."), 2, known=(KnownAnswer(1, 1, (0,)), KnownAnswer(6, 2, (4, 5)))
)
DOMAIN = Domain("d", "comem", (), "")


def made(context: Context, **settled: object) -> list[Probe]:
    parameters = CoMemConfig.model_validate({"keys": "rule", **settled})
    keys = labels_from_source(parameters.keys, DOMAIN, [context], parameters)
    return list(make_probes("d", [context], keys, parameters))


def test_gold_by_rule_is_latest_answer_in_visible_messages(context: Made):
    probes = made(context(8, [CHANGING]))
    assert [(probe.checkpoint, probe.gold) for probe in probes] == [
        (0, "1"), (1, "1"), (2, "1"), (3, "2"), (4, "2"),
    ]  # fmt: skip
    assert [probe.evidence for probe in probes][2:4] == [["c/0.0"], ["c/2.4", "c/2.5"]]
    assert {probe.question_id for probe in probes} == {"c/q"}


def test_previous_state_is_the_option_before_the_last_change_of_the_label(context: Made):
    probes = made(context(8, [CHANGING]))
    first, second = probes[0].options[:2]
    assert [probe.previous for probe in probes] == ["", first, first, first, first]
    assert [probe.revealed for probe in probes] == ["", first, first, second, second]


@pytest.mark.parametrize(("guess_key", "gold"), [("first", "1"), ("last", "2")])
def test_guess_key_parameter_selects_gold_of_checkpoint_0(context: Made, guess_key: str, gold: str):
    guess = made(context(8, [CHANGING]), guess_key=guess_key)[0]
    assert (guess.checkpoint, guess.gold, guess.revealed) == (0, gold, "")


def test_published_answer_is_gold_at_every_checkpoint(context: Made):
    assert [probe.gold for probe in made(context(8, [CHANGING]), keys="published")] == ["2"] * 5


def test_unanswerable_question_is_dropped(context: Made):
    asked = ContextQuestion("q", "?", ("a", "b"), known=(KnownAnswer(5, 1, (4,)),))
    keys = labels_from_source("rule", DOMAIN, [context(8, [asked])], CoMemConfig())
    assert {key.dropped for key in keys} == {
        "no option is correct at checkpoint 1, 2, where the answer is unknown"
    }
    assert made(context(8, [asked])) == []


def test_question_without_rule_based_label_is_quarantined(context: Made):
    probes = made(context(8, [ContextQuestion("q", "?", ("a", "b"))]))
    assert len(probes) == 5
    assert {probe.reason for probe in probes} == {
        "c/q has no rule-based label: the source does not state when an answer becomes correct"
    }
