"""Failure attribution of published runs by evidence, where their files have what was retrieved.

Retrieved ids are compared with the ids of the evidence messages; a session counts as evidence if it has one. Texts are
searched for the words of the evidence (evidence_in_context.py). What a memory stored is not published, so a loss
without the evidence is a read failure that may have been a write failure: a retrieval failure.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from memflow.metrics.diagnosis import attribute_by_evidence
from memflow.metrics.intervals import Interval, Units, proportion_interval, statistic_interval
from memflow.published_runs.evidence_in_context import (
    Context,
    ConversationMessages,
    MatchRule,
    calibrated_rule,
    drawn,
)
from memflow.published_runs.matching import Question
from memflow.published_runs.rescoring import WORD_F1, RescoredRun, Values
from memflow.published_runs.rows import PublishedAnswer
from memflow.records import FailureAttribution, Probe, Score, Turn
from memflow.scoring.attribution import NO_EVIDENCE
from memflow.scoring.catalog import find_metric
from memflow.scoring.estimate import MetricContext, sums_by_episode
from memflow.scoring.evidence import evidence_scores

NO_CONTEXT = "the file does not have what was retrieved for this question"
CUT = "the context is cut in the file, and lacks evidence"
NO_DATA = "the evidence is not stated in the file, and not in the data folder"
FALSE_DRAWS = 4
"""Evidence messages of other conversations that are looked for in each context."""


Found = Mapping[str, Sequence[bool]]
"""Which evidence messages were found, by question."""


@dataclass(frozen=True)
class BenchmarkMessages:
    """The messages of a benchmark by conversation and published id, and the evidence ids of its questions."""

    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    speakers: Mapping[str, Collection[str]] = field(default_factory=dict)
    evidence: Mapping[str, Sequence[str]] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, turns: Iterable[Turn], probes: Iterable[Probe]) -> "BenchmarkMessages":
        """Return the messages and evidence of a domain's rows. Ids lose the conversation before `/`."""
        texts: dict[str, dict[str, str]] = {}
        speakers: dict[str, set[str]] = {}
        for turn in turns:
            texts.setdefault(turn.episode_id, {})[_published_id(turn.message_id, turn.episode_id)] = turn.text
            speakers.setdefault(turn.episode_id, set()).add(turn.speaker or "")
        asked = [*probes]
        return cls(
            texts,
            speakers,
            {
                probe.probe_id: [_published_id(name, probe.episode_id) for name in probe.evidence]
                for probe in asked
            },
            {
                probe.probe_id: Question(probe.episode_id, probe.category or "", probe.question, probe.gold)
                for probe in asked
            },
        )

    @cached_property
    def conversations(self) -> Mapping[str, ConversationMessages]:
        """The messages of each conversation, by its name, prepared for the search."""
        return {name: ConversationMessages(texts, self.speakers[name]) for name, texts in self.texts.items()}

    @cached_property
    def evidence_of(self) -> Mapping[str, Sequence[str]]:
        """The ids of the evidence messages of all questions of a conversation, by its name."""
        ids: dict[str, dict[str, None]] = {}
        for question, evidence in self.evidence.items():
            ids.setdefault(question.rpartition("/")[0], {}).update(dict.fromkeys(evidence))
        return {name: [*of_conversation] for name, of_conversation in ids.items()}


@dataclass(frozen=True)
class RunAttribution:
    """The attributions of a run. `kind` is what evidence was found by: `messages`, `sessions` or `words`."""

    run: RescoredRun
    kind: str
    rule: MatchRule | None
    rows: Sequence[FailureAttribution]
    lenient: Mapping[str, int]
    """How many evidence messages the lenient rule finds, by question. For ids it is what was retrieved."""
    agreement: Sequence[int] = ()
    """Where texts and ids are published: evidence messages that are there, those of them that the strict and the
    lenient rule find, and the same of messages that are not there."""

    @property
    def retrieved(self) -> Interval:
        """The share of a question's evidence that was retrieved, with its interval."""
        score = self.scores["evidence_recall"]
        return Interval(score.value, score.low, score.high, score.interval_reason)

    @cached_property
    def recall(self) -> Values:
        """The share of a question's evidence that was retrieved, by question."""
        shares = {
            row.probe_id: row.recalled / row.evidence for row in self.attributed if row.recalled is not None
        }
        return Values(find_metric("evidence_recall"), shares, self.run.clusters)

    @property
    def attributed(self) -> list[FailureAttribution]:
        """The rows whose evidence was followed."""
        return [row for row in self.rows if row.reason is None]

    @cached_property
    def scores(self) -> Mapping[str, Score]:
        """The evidence scores over all questions, by the name of the metric."""
        context = MetricContext(
            domain=self.run.run.benchmark,
            assistant=self.run.name,
            memory=self.run.system,
            model=self.run.reader,
            simulator="",
            scripted=False,
        )
        return {row.metric: row for row in evidence_scores(self.rows, context) if row.slice == "all"}

    def with_all_evidence(self, correct: bool, *, lenient: bool = False) -> Interval:
        """Return the share of the wrong or of the correct answers that had all evidence in what was retrieved.

        Words must satisfy the strict rule, unless `lenient`. Without labels, it is the share of the loss or of the
        score, in F1.
        """
        return self._share(
            correct,
            lambda row: (self.lenient.get(row.probe_id) if lenient else row.recalled) == row.evidence,
        )

    def without_evidence(self, correct: bool) -> Interval:
        """Return the share of the wrong or of the correct answers without any evidence, by the lenient rule."""
        return self._share(correct, lambda row: not self.lenient.get(row.probe_id))

    def count(self, correct: bool) -> int | None:
        """Return the number of wrong or correct answers; None without labels."""
        if not self.is_labeled:
            return None
        return sum((row.loss == 0) == correct for row in self.attributed if row.loss is not None)

    @property
    def is_labeled(self) -> bool:
        """Whether a judge's label, and not the F1, decides what is wrong."""
        return self.run.main is not None

    def _share(self, correct: bool, has: Callable[[FailureAttribution], bool]) -> Interval:
        weights = [
            (row.episode_id, 1 - row.loss if correct else row.loss, float(has(row)))
            for row in self.attributed
            if row.loss is not None
        ]
        counts = [total for total, _ in sums_by_episode((name, weight) for name, weight, _ in weights)]
        totals = [
            total for total, _ in sums_by_episode((name, weight * hit) for name, weight, hit in weights)
        ]
        if not sum(counts):
            return Interval(None, None, None)
        if self.is_labeled:
            return proportion_interval(Units.of_episodes(totals, counts))
        parts = np.array([totals, counts]).T
        return statistic_interval(lambda drawn: (drawn @ parts)[:, 0] / (drawn @ parts)[:, 1], len(parts))


def attribute_run(run: RescoredRun, messages: BenchmarkMessages) -> RunAttribution | None:
    """Return the attributions of a run, or None if its files do not have what was retrieved."""
    answers = {name: answer for name, answer in run.answers.items() if answer.has_context}
    if not answers:
        return None
    kind = "words"
    if any(answer.messages for answer in answers.values()):
        kind = "messages"
    elif any(answer.sessions for answer in answers.values()):
        kind = "sessions"
    strict, lenient, rule = _found_by_words(answers, messages)
    agreement: Sequence[int] = ()
    if kind != "words":
        by_id = _found_by_ids(answers, messages, kind)
        if kind == "messages" and rule is not None:
            agreement = _agreement(by_id, strict, lenient)
        strict, lenient, rule = by_id, by_id, None
    rows = [_row(run, name, answer, strict.get(name)) for name, answer in run.answers.items()]
    return RunAttribution(
        run, kind, rule, rows, {name: sum(found) for name, found in lenient.items()}, agreement
    )


def _agreement(by_id: Found, strict: Found, lenient: Found) -> list[int]:
    """Return the numbers of `RunAttribution.agreement`."""
    rows = [
        row
        for name, found in strict.items()
        if len(found) == len(by_id[name])
        for row in zip(by_id[name], found, lenient[name], strict=True)
    ]
    counts = []
    for is_there in (True, False):
        of_kind = [row for row in rows if row[0] == is_there]
        counts += [len(of_kind), sum(row[1] for row in of_kind), sum(row[2] for row in of_kind)]
    return counts


def _found_by_ids(answers: Mapping[str, PublishedAnswer], messages: BenchmarkMessages, kind: str) -> Found:
    """Return for each question which of its evidence messages, or sessions, were retrieved."""
    found: dict[str, list[bool]] = {}
    for name, answer in answers.items():
        evidence = [*messages.evidence.get(name, answer.recorded_evidence)]
        if kind == "sessions":
            evidence = [*dict.fromkeys(map(session_of, evidence))]
        found[name] = [item in getattr(answer, kind) for item in evidence]
    return found


def _found_by_words(
    answers: Mapping[str, PublishedAnswer], messages: BenchmarkMessages
) -> tuple[Found, Found, MatchRule | None]:
    """Return which evidence messages of each question the strict and the lenient rule find, and the rules."""
    shares: dict[str, list[float]] = {}
    false: list[float] = []
    near: list[float] = []
    for name, answer in answers.items():
        conversation = messages.conversations.get(answer.conversation)
        if conversation is None or not answer.texts:
            continue

        def shares_of(
            items: Iterable[str | None],
            source: ConversationMessages = conversation,
            into: ConversationMessages = conversation,
            context: Context = Context(answer.texts),
        ) -> list[float]:
            return into.shares((source.messages[item] for item in items if item), context)

        evidence = messages.evidence.get(name, ())
        shares[name] = shares_of(evidence)
        others = [other for other in messages.evidence_of if other != answer.conversation]
        for draw in range(FALSE_DRAWS):
            if other := drawn(others, f"{name}/{draw}"):
                item = drawn(messages.evidence_of[other], f"{name}/{draw}")
                false += shares_of([item], messages.conversations[other])
        sessions = {session_of(item) for item in evidence}
        of_conversation = messages.evidence_of[answer.conversation]
        near += shares_of(
            [drawn([item for item in of_conversation if session_of(item) not in sessions], name)]
        )
    if not false:
        return {}, {}, None
    rule = calibrated_rule(false, near)
    strict, lenient = (
        {name: [value > share for value in values] for name, values in shares.items()}
        for share in (rule.strict, rule.lenient)
    )
    return strict, lenient, rule


def _row(
    run: RescoredRun, name: str, answer: PublishedAnswer, found: Sequence[bool] | None
) -> FailureAttribution:
    """Return a question's row: with the reason if nothing can be attributed."""
    row = FailureAttribution(
        domain=run.run.benchmark,
        assistant=run.name,
        probe_id=name,
        episode_id=answer.conversation,
        checkpoint=0,
        category=answer.category,
        evidence=len(found or ()),
    )
    if not answer.has_context:
        return replace(row, reason=NO_CONTEXT)
    if not found:
        return replace(row, reason=NO_DATA if found is None else NO_EVIDENCE)
    if answer.context_cut and not all(found):
        return replace(row, reason=CUT)
    row = replace(row, recalled=sum(found), entries=number_retrieved(answer))
    values = run.main or run.values.get(WORD_F1.name)
    value = values.by_question.get(name) if values else None
    if value is None:
        return row
    evidence = frozenset(map(str, range(len(found))))
    recalled = frozenset(str(at) for at, is_found in enumerate(found) if is_found)
    shares = attribute_by_evidence(evidence, evidence, recalled, 1 - value)
    return replace(row, loss=1 - value, read=shares.read, utilization=shares.utilization)


def number_retrieved(answer: PublishedAnswer) -> int | None:
    """Return the number of retrieved items, as recorded or counted; None if it is unknown."""
    if answer.retrieved is not None:
        return answer.retrieved
    if not answer.has_context or len(answer.texts) == 1:  # one text may have any number of items
        return None
    return len(answer.texts or answer.messages or answer.sessions)


def session_of(message: str) -> str:
    """Return the session of a message, such as `1` of `D1:3`."""
    return message.rpartition(":")[0].removeprefix("D") or message


def _published_id(name: str, episode: str) -> str:
    return name.removeprefix(f"{episode}/")
