"""Scores of a published run from what was committed: labels, rubrics and answers, by the methods of the leaderboard.

The clusters of an interval are conversations; a question with a history of its own is a cluster of its own.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.plugins import load_object
from memflow.metrics.intervals import Interval
from memflow.metrics.text import word_f1
from memflow.published_runs.layouts import layout_of
from memflow.published_runs.matching import Question, matched
from memflow.published_runs.rows import NO_LABEL, Claim, PublishedAnswer, PublishedRun
from memflow.scoring.catalog import ACCURACY
from memflow.scoring.estimate import by_episode, value_interval
from memflow.scoring.metric import Metric

WORD_F1 = Metric("word_f1", "F1", "higher", "F1 of stemmed words beside the gold answer, by memflow.")
RUBRIC = Metric("rubric", "Rubric", "higher", "Mean score of the criteria of a rubric.")
PASSED = Metric(
    "passed", "Rubric of at least .5", "higher", "Share of the rubrics of at least .5.", proportion=True
)
MEASURES = (ACCURACY, PASSED, RUBRIC, WORD_F1)
"""What is scored, in the order of preference for a run: the labels of its judge, its rubrics, its answers."""


NOT_STATED = "not stated"
COVERED = 0.9
"""Share of the questions of its conversations below which a run has a selection of them."""
SHORTEST_CUT = 50
"""Characters from which on equal lengths of most answers are no coincidence."""


class BenchmarkFacts(BaseModel):
    """What benchmarks.yaml declares of a benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    units: str = "conversations"
    categories: Mapping[str, str] = {}
    domain: str = ""
    f1: str = ""
    known_errors: str = ""

    def answer_f1(self, answer: PublishedAnswer) -> float | None:
        """Return the F1 of an answer, the best over several gold answers; None without an answer or a gold answer."""
        if answer.answer is None or not answer.gold:
            return None
        if self.f1:
            return float(load_object(self.f1)(answer.answer, answer.gold, answer.category))
        return max(word_f1(answer.answer, gold) for gold in answer.gold.split("\n"))


@cache
def benchmark_facts(name: str) -> BenchmarkFacts:
    """Return what is declared of a benchmark; its name alone for one that is not declared."""
    return BenchmarkFacts(**load_yaml(__package__, "benchmarks.yaml").get(name, {"title": name}))


@dataclass(frozen=True)
class Values:
    """The values of a metric by question of a run, and the cluster of each question."""

    metric: Metric
    by_question: Mapping[str, float]
    clusters: Mapping[str, str]

    def interval(self, questions: Collection[str] | None = None) -> Interval:
        """Return the mean over all or some questions, and its interval over clusters or the reason for none."""
        pairs = (
            (self.clusters[name], value)
            for name, value in self.by_question.items()
            if questions is None or name in questions
        )
        return value_interval(self.metric, "standard", by_episode(pairs), frozenset())


class RescoredRun:
    """A published run with its scored questions: those that its benchmark does not score apart.

    `questions` are those of the benchmark by id, where its data is at hand. They give the positions that a file does
    not state, and the texts that it changed. `name`, `system`, `reader`, `judge`, the answer `prompt`, `role`,
    `selection`, `source`, `license` and `claims` are as the declaration or the files state them (rows.DeclaredRun).
    """

    def __init__(self, run: PublishedRun, questions: Mapping[str, Question] | None = None) -> None:
        layout = layout_of(run.benchmark)
        apart = layout.category_apart if layout else None
        if questions and not all(answer.question_id for answer in run.answers):
            run = matched(run, questions)
        self.run, self.facts = run, benchmark_facts(run.benchmark)
        self.answers = {key(answer): answer for answer in run.answers if answer.category != apart}
        self.clusters = {name: answer.conversation for name, answer in self.answers.items()}
        self._questions = questions or {}
        self.name = self._stated("id", ", ".join(run.files))
        self.system = self._stated("system", self.name)
        self.reader, self.judge = self._stated("reader", NOT_STATED), self._stated("judge", NOT_STATED)
        self.prompt, self.role = self._stated("prompt", ""), self._stated("role", "system")
        self.selection = self._stated("selection", "whole")
        self.source, self.license = self._stated("source", ""), self._stated("license", "")
        self.claims: Sequence[Claim] = run.declaration.claims if run.declaration else ()

    def _stated(self, name: str, default: str) -> str:
        """Return what the declaration states, or else the file, or else the default."""
        declared = str(getattr(self.run.declaration, name, NOT_STATED))
        return declared if declared not in ("", NOT_STATED) else self.run.header.get(name, default)

    @property
    def is_selected(self) -> bool:
        """Whether its questions were selected, so that no share of them is an accuracy.

        That is declared, or less than COVERED of the questions of its conversations are there.
        """
        layout = layout_of(self.run.benchmark)
        asked = sum(len(layout.scored[name]) for name in {*self.clusters.values()}) if layout else 0
        return self.selection == "selected" or len(self.answers) < COVERED * asked

    @property
    def is_self_judged(self) -> bool:
        """Whether the model that answered also judged."""
        return self.reader == self.judge and not self.reader.startswith((NOT_STATED, "see "))

    @cached_property
    def values(self) -> Mapping[str, Values]:
        """The values of each measure that the run has, by the name of the metric."""
        functions: dict[str, Callable[[PublishedAnswer], float | None]] = {
            ACCURACY.name: label_or_wrong,
            RUBRIC.name: rubric_mean,
            PASSED.name: lambda answer: None if (mean := rubric_mean(answer)) is None else float(mean >= 0.5),
            WORD_F1.name: self.facts.answer_f1,
        }
        has_labels = any(answer.label is not None for answer in self.answers.values())
        found = {}
        measures = [metric for metric in MEASURES if metric is not WORD_F1 or not self.has_cut_answers]
        for metric in measures:
            values = {name: functions[metric.name](answer) for name, answer in self.answers.items()}
            by_question = {name: value for name, value in values.items() if value is not None}
            if by_question and (metric is not ACCURACY or has_labels):
                found[metric.name] = Values(metric, by_question, self.clusters)
        return found

    @cached_property
    def main(self) -> Values | None:
        """The values of the run's own contract: labels, else rubrics; None for answers and retrievals alone."""
        return self.values.get(ACCURACY.name) or self.values.get(PASSED.name)

    @cached_property
    def valid_questions(self) -> frozenset[str] | None:
        """The ids of questions without a known error of the gold answer; None without a list or question texts."""
        texts = {
            name: self._questions[name].text if name in self._questions else answer.question
            for name, answer in self.answers.items()
        }
        if not self.facts.known_errors or not any(texts.values()):
            return None
        has_error = load_object(self.facts.known_errors)
        return frozenset(name for name, text in texts.items() if not has_error(name, text))

    @cached_property
    def has_cut_answers(self) -> bool:
        """Whether most answers have exactly the same, largest length: the file has only their beginnings."""
        lengths = Counter(len(answer.answer or "") for answer in self.answers.values())
        largest = max(lengths, default=0)
        return largest >= SHORTEST_CUT and 2 * lengths[largest] > len(self.answers)

    def categories(self) -> dict[str, list[str]]:
        """Return the ids of the questions by category, in order; questions without a category are omitted."""
        groups: dict[str, list[str]] = {}
        stated = [item for item in self.answers.items() if item[1].category not in ("", "None")]
        for name, answer in sorted(stated, key=lambda item: item[1].category):
            groups.setdefault(answer.category, []).append(name)
        return groups

    @property
    def group(self) -> tuple[str, str, str]:
        """What runs must share for their values to be comparable: benchmark, contract and judge.

        A judge that is not stated is shared within a system only.
        """
        judge = f"{NOT_STATED} ({self.system})" if self.judge == NOT_STATED else self.judge
        return self.run.benchmark, self.run.contract, judge

    def unlabeled(self) -> int:
        """Return the number of answers that a judge read and did not label, which count as wrong."""
        return sum(is_unlabeled(answer) for answer in self.answers.values())


def key(answer: PublishedAnswer) -> str:
    """Return the id of an answer's question, or its place where the file has none."""
    return answer.question_id or answer.place


def is_unlabeled(answer: PublishedAnswer) -> bool:
    """Return whether a judge gave no label, which counts as wrong, as in the published code."""
    return answer.label is None and (answer.label_reason or "").startswith(NO_LABEL)


def label_or_wrong(answer: PublishedAnswer) -> float | None:
    """Return the label of an answer, 0 if its judge gave none, and None if it was not judged."""
    return 0.0 if is_unlabeled(answer) else answer.label


def rubric_mean(answer: PublishedAnswer) -> float | None:
    """Return the recorded mean score of a rubric's criteria, or else their mean; None without criteria."""
    if "rubric" in answer.metrics:
        return answer.metrics["rubric"]
    return sum(answer.rubric) / len(answer.rubric) if answer.rubric else None
