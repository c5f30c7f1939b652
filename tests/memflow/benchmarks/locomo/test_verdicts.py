"""Verdicts of LoCoMo: contracts, labels, runs and several judges; and the scores computed from them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.locomo.benchmark import LoCoMo
from memflow.benchmarks.locomo.checks import EXPECTED
from memflow.benchmarks.verdicts import NO_JUDGE
from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound
from memflow.checks.evaluation import RuleResult, check_rows
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Score, Verdict

BENCHMARK = LoCoMo()
EVERY = (1, 2, 3, 4, 5)
CONTRACTS = ("j_2025", "j_2026", "j_strict")


@dataclass
class Judge:
    """A judge whose text `answer` returns, and the requests it received."""

    answer: Callable[[ChatRequest], str]
    requests: list[ChatRequest] = field(default_factory=list)
    fingerprint: str = "judge"
    sampling: Sampling = field(default_factory=lambda: Sampling(seed=7))
    bound: TokenBound = field(default_factory=TokenBound)
    scripted: bool = True

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        return Completion(self.answer(request), digest=f"{self.fingerprint}-{len(self.requests)}")


def label(request: ChatRequest, correct: bool) -> str:
    told = {"label": "CORRECT" if correct else "WRONG"}
    return json.dumps(told if request.prompt == "locomo/j_2025" else {"reason": "So.", **told})


def equal(request: ChatRequest) -> str:
    """Label an answer that equals the gold as correct."""
    return label(request, request.fields["answer"] == request.fields["gold"])


def by_key(verdicts: list[Verdict], probe_id: str) -> dict[tuple[str, str], Verdict]:
    return {(row.metric, row.variant): row for row in verdicts if row.probe_id == probe_id}


def scores_of(built, verdicts: list[Verdict]) -> dict[tuple[str, str, str], Score]:
    results = AssistantResults(
        built.domain.name, "full", "full", "m", built.probes, verdicts, (), (), "", False
    )
    return {
        (score.metric, score.variant, score.slice): score for score in BENCHMARK.scores(built.domain, results)
    }


async def test_each_contract_gets_question_gold_and_answer_with_temperature_0(sample) -> None:
    built, judge = sample(contracts=CONTRACTS, categories=EVERY), Judge(equal)
    replies = built.replies(lambda probe: probe.gold)
    verdicts = await BENCHMARK.verdicts(built.domain, built.probes, replies, MetricBackends(judge))
    assert {row.value for row in verdicts if row.metric in ("j_2025", "j_strict")} == {1.0}
    assert len(judge.requests) == 3 * len(built.probes)
    assert {request.sampling.temperature for request in judge.requests} == {0}
    assert {request.sampling.seed for request in judge.requests} == {7}
    golds = {
        (request.prompt, request.fields["question"]): request.fields["gold"] for request in judge.requests
    }
    vacation = "Would Tomas enjoy a vacation by the sea?"
    assert golds["locomo/j_2025", vacation] == "Yes; he sails and lives near the coast"
    assert golds["locomo/j_2026", vacation] == "Yes", "this contract cuts the gold of category 3"
    assert golds["locomo/j_2026", "How many parrots does Vera have?"] == "2"


@pytest.mark.parametrize(
    "text", ['{"label": "correct"}', '{"label": "CORRECT, WRONG"}', "CORRECT", '{"lab', "[]"]
)
async def test_answer_without_a_label_is_null_and_wrong_in_the_published_variant(sample, text: str) -> None:
    built, judge = sample(), Judge(lambda request: text)
    verdicts = await BENCHMARK.verdicts(
        built.domain, built.probes, built.replies(lambda probe: probe.gold), MetricBackends(judge)
    )
    found = by_key(verdicts, "sample-1/q0")
    assert found["j_2025", "standard"].value is None and "no usable answer" in str(
        found["j_2025", "standard"].reason
    )
    assert found["j_2025", "unlabeled_as_wrong"].value == 0.0
    scores = scores_of(built, verdicts)
    assert scores["j_2025", "standard", "all"].value is None, "no score silently becomes 0"
    assert scores["j_2025", "unlabeled_as_wrong", "all"].value == 0.0


async def test_missing_reply_failed_reply_and_missing_judge_have_reasons_in_every_variant(sample) -> None:
    built = sample()
    replies = built.replies(lambda probe: None if probe.probe_id == "sample-1/q0" else "x")[:-1]
    verdicts = await BENCHMARK.verdicts(built.domain, built.probes, replies, MetricBackends())
    assert {row.reason for row in by_key(verdicts, "sample-1/q0").values()} == {"no answer"}
    missing = by_key(verdicts, built.probes[-1].probe_id)
    assert {row.reason for row in missing.values()} == {
        f"{built.probes[-1].probe_id} has no reply; regenerate answer.replies"
    }
    without_judge = by_key(verdicts, "sample-1/q1")
    assert without_judge["j_2025", "standard"].reason == NO_JUDGE
    assert without_judge["j_2025", "unlabeled_as_wrong"].reason == NO_JUDGE
    assert without_judge["set_f1", "standard"].value == 0.0


async def test_several_runs_have_seeds_of_their_own_and_a_mean_and_deviation(sample) -> None:
    def by_seed(request: ChatRequest) -> str:
        return label(request, (request.sampling.seed or 0) < 9 or request.fields["gold"] == "Comet")

    built, judge = sample(judge_runs=3), Judge(by_seed)
    verdicts = await BENCHMARK.verdicts(
        built.domain, built.probes, built.replies(lambda probe: "x"), MetricBackends(judge)
    )
    assert sorted({request.sampling.seed for request in judge.requests}) == [7, 8, 9]
    found = by_key(verdicts, "sample-1/q1")
    runs = [found["j_2025", f"run_{run}"].value for run in (1, 2, 3)]
    assert runs == [1.0, 1.0, 0.0] and found["j_2025", "standard"].value == pytest.approx(2 / 3)
    scores, n = scores_of(built, verdicts), len(built.probes)
    third = 1 / n  # the question about Comet
    assert scores["j_2025", "run_3", "all"].value == pytest.approx(third)
    assert scores["j_2025", "standard", "all"].value == pytest.approx((2 + third) / 3)
    expected = (((1 - (2 + third) / 3) ** 2 * 2 + (third - (2 + third) / 3) ** 2) / 2) ** 0.5
    assert scores["judge_run_deviation", "standard", "all"].value == pytest.approx(expected)


async def test_adversarial_f1_follows_the_options(sample) -> None:
    built = sample(categories=(5,))
    letters: Mapping[str, str] = {
        probe.probe_id: "ab"[[option.startswith("Not") for option in probe.options].index(True)]
        for probe in built.probes
    }
    right = await BENCHMARK.verdicts(
        built.domain, built.probes, built.replies(lambda probe: letters[probe.probe_id]), MetricBackends()
    )
    assert {row.value for row in right if row.metric == "locomo_f1"} == {1.0}
    open_form = sample(categories=(5,), adversarial="open")
    said = open_form.replies(lambda probe: "a")
    wrong = await BENCHMARK.verdicts(open_form.domain, open_form.probes, said, MetricBackends())
    assert {row.value for row in wrong if row.metric == "locomo_f1"} == {0.0}


async def test_scores_are_means_over_questions_by_category_and_without_known_errors(sample) -> None:
    built = sample(categories=EVERY)
    wrong = {"sample-1/q7", "sample-1/q0"}  # the first has a known error
    verdicts = await BENCHMARK.verdicts(
        built.domain,
        built.probes,
        built.replies(lambda probe: "x" if probe.probe_id in wrong else probe.gold),
        MetricBackends(Judge(equal)),
    )
    scores = scores_of(built, verdicts)

    def j(name: str) -> float | None:
        return scores["j_2025", "standard", name].value

    assert j("all") == pytest.approx(16 / 18) and j("without known errors") == pytest.approx(16 / 17)
    assert j("category 4") == pytest.approx(5 / 7) and j("category 1") == 1.0
    ceiling = scores["key_ceiling", "standard", "all"]
    assert ceiling.value == pytest.approx(17 / 18)
    assert scores["key_ceiling", "standard", "without known errors"].value == 1.0
    interval = scores["j_2025", "standard", "all"]
    assert interval.n_episodes == 2 and interval.interval_reason == "2 episodes"
    slices = {name for metric, variant, name in scores if (metric, variant) == ("j_2025", "standard")}
    assert slices == {"all", *BENCHMARK.slices(built.domain, built.probes)}
    assert slices == set(BENCHMARK.compared_slices(built.domain, built.probes))


def outcome(name: str, domain: Domain, **tables: Sequence[Any]) -> RuleResult:
    """Return the result of a rule of LoCoMo; tables have `__` in their names in place of the dot."""
    rows = {table.replace("__", "."): each for table, each in tables.items()}
    expected = next(each for each in EXPECTED if each.name == name)
    (found,) = check_rows(expected.table, rows[expected.table], [expected], rows.__getitem__, domain)
    return found


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("evidence_in_conversation", lambda probe: replace(probe, evidence=["sample-2/D1:1"])),
        ("answerable_probes_have_evidence", lambda probe: replace(probe, evidence=[])),
    ],
)
def test_invalid_probe_fails_its_check(sample, name: str, change: Callable[[Probe], Probe]) -> None:
    built = sample()
    assert outcome(name, built.domain, question__probes=built.probes, utterance__turns=built.turns).passed
    probes = [change(built.probes[0]), *built.probes[1:]]
    found = outcome(name, built.domain, question__probes=probes, utterance__turns=built.turns)
    assert not found.passed and found.unexpected == 1


async def test_many_judgments_without_a_label_fail_their_check(sample) -> None:
    built, name = sample(), "judgments_without_label_at_most_1_percent"

    async def passed(answer: Callable[[ChatRequest], str]) -> bool:
        replies = built.replies(lambda probe: "x")
        rows = await BENCHMARK.verdicts(built.domain, built.probes, replies, MetricBackends(Judge(answer)))
        return outcome(name, built.domain, score__verdicts=rows).passed

    assert await passed(equal) and not await passed(lambda request: "?")
