"""The history of published scores: which scores a publication adds.

A publication adds the scores whose values or inputs differ from the last published ones, and a row for each score that
is no longer on the leaderboard. resources/publishing/score_history.py reads the inputs from the lake.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from memflow.records import PublishedScore, Score
from memflow.scoring.judges import parse_variant

Key = tuple[str, str, str, str, str]
SCORE_FIELDS = tuple(field.name for field in fields(Score))


@dataclass(frozen=True)
class ScoreInputs:
    """What the scores of an assistant in a domain are computed from: content hashes, the judges, and the simulator.

    `hashes` are those of the probes and the verdicts, as far as they are stored. `judges` are the names of the judges
    of the stored verdicts and claims. `simulator` is None if it is not known.
    """

    hashes: Sequence[str]
    judges: Sequence[str] = ()
    judged_metrics: frozenset[str] = frozenset()
    simulator: str | None = None

    def judge_of(self, score: Score) -> str | None:
        """Return the names of the judges behind a score; None if no judge decided it."""
        judge = parse_variant(score.variant).judge
        names = [judge] if judge is not None and judge in self.judges else self.judges
        is_judged = score.metric.partition("[")[0] in self.judged_metrics
        return ", ".join(names) if is_judged and names else None


@dataclass(frozen=True)
class Publication:
    """A moment at which a run publishes scores. `at` is a time in ISO 8601, UTC."""

    at: str
    run: str | None


def key_of(score: Score) -> Key:
    """Return the key of a score: (domain, assistant, metric, variant, slice)."""
    return score.domain, score.assistant, score.metric, score.variant, score.slice


def current_scores(history: Iterable[PublishedScore]) -> dict[Key, PublishedScore]:
    """Return the newest row of each score by its key, without removed scores. `history` is in order of publication."""
    newest_rows = {key_of(row): row for row in history}
    return {key: row for key, row in newest_rows.items() if not row.removed}


def rows_to_add(
    history: Sequence[PublishedScore],
    scores: Sequence[Score],
    inputs: Mapping[tuple[str, str], ScoreInputs],
    publication: Publication,
) -> list[PublishedScore]:
    """Return the rows that a publication adds to the history; none if nothing differs.

    `inputs` has the inputs by domain and assistant.
    """
    published = current_scores(history)
    number = max((row.publication for row in history), default=0) + 1
    rows = []
    for score in scores:
        assistant_inputs = inputs[score.domain, score.assistant]
        row = PublishedScore(
            **{name: getattr(score, name) for name in SCORE_FIELDS},
            publication=number,
            published_at=publication.at,
            run=publication.run,
            inputs=list(assistant_inputs.hashes),
            judge=assistant_inputs.judge_of(score),
            simulator_model=assistant_inputs.simulator,
        )
        published_row = published.pop(key_of(score), None)
        if published_row is None or _differs(row, published_row):
            rows.append(row)
    # The remaining rows in `published` are of scores that are no longer on the leaderboard.
    return rows + [_removed(row, number, publication) for row in published.values()]


def _differs(row: PublishedScore, published: PublishedScore) -> bool:
    """Return whether two rows of a score differ in more than their publication (number, time and run)."""
    publication, time, run = published.publication, published.published_at, published.run
    return replace(row, publication=publication, published_at=time, run=run) != published


def _removed(row: PublishedScore, number: int, publication: Publication) -> PublishedScore:
    """Return the row that records that a score is no longer on the leaderboard."""
    return replace(
        row,
        value=None,
        low=None,
        high=None,
        judge_low=None,
        judge_high=None,
        deviation=None,
        publication=number,
        published_at=publication.at,
        run=publication.run,
        inputs=[],
        removed=True,
        reason="no longer on the leaderboard",
    )
