"""The report of a sheet: mean score, agreement and Gwet's AC1 of its annotators.

An item's score is the mean of its annotators' scores. Agreement compares label categories (sheet.label_category).
Confidence intervals are over episodes. A sheet that asks about several aspects has the rows of each aspect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.annotation.annotations import Annotations
from memflow.annotation.sheet import Sheet, label_categories, label_category, label_score
from memflow.errors import BadInput
from memflow.metrics.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, percent_agreement
from memflow.metrics.intervals import Interval, Units, mean_interval

NO_INTERVAL = Interval(None, None, None)


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A row of the annotation report: all annotators together, or one of them.

    `labelled` counts items with a label, `paired` counts items with two or more labels, from which agreement is
    computed. `kappa` is Cohen's of two raters, and Fleiss' of more.
    """

    of: str
    labelled: int
    paired: int
    mean: Interval
    agreement: Interval = NO_INTERVAL
    ac1: Interval = NO_INTERVAL
    kappa: Interval = NO_INTERVAL
    aspect: str | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedItem:
    """An annotated item with the labels and comments of each annotator; `differs` is True if they disagree."""

    item: str
    labels: Mapping[str, str]
    says: Mapping[str, str]
    comments: Mapping[str, str]
    score: float | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The annotation report of one sheet. Of several annotators, the first row of `measured` covers all."""

    sheet: Sheet
    measured: Sequence[AgreementRow]
    judged: Sequence[AnnotatedItem]
    notes: Sequence[str]


def make_report(sheet: Sheet, key: Mapping[str, str], annotations: Sequence[Annotations]) -> Report:
    """Return the report of one sheet. Raises BadInput if the sheet has no annotations."""
    if not annotations:
        raise BadInput(
            f"the sheet of {sheet.header.kind} in {sheet.header.domain} has no annotations. Open the "
            "sheet's page, annotate the items, and save the file in the sheet's folder."
        )
    measured = []
    for aspect, part in sheet.by_aspect().items():
        rows = [
            AgreementRow(
                one.annotator, len(part.items.keys() & one.labels), 0, _mean_interval(part, key, [one])
            )
            for one in annotations
        ]
        if len(annotations) > 1:
            rows.insert(0, _row_of_all(part, key, annotations))
        measured += [replace(row, aspect=aspect) for row in rows]
    notes = [sheet.header.note] if sheet.header.note else []
    return Report(sheet, measured, _annotated_items(sheet, key, annotations), notes)


def _row_of_all(sheet: Sheet, key: Mapping[str, str], persons: Sequence[Annotations]) -> AgreementRow:
    ratings = [
        [
            label_category(item, person.labels[name], key) if name in person.labels else None
            for person in persons
        ]
        for name, item in sheet.items.items()
    ]
    allowed, episodes = label_categories(sheet), list(sheet.episodes.values())
    kappa = cohen_kappa if len(persons) == 2 else fleiss_kappa
    given = [sum(label is not None for label in row) for row in ratings]
    return AgreementRow(
        f"{len(persons)} persons",
        sum(count > 0 for count in given),
        sum(count > 1 for count in given),
        _mean_interval(sheet, key, persons),
        percent_agreement(ratings, allowed, episodes=episodes),
        gwet_ac1(ratings, allowed, episodes=episodes, seed=sheet.header.seed),
        kappa(ratings, allowed, episodes=episodes, seed=sheet.header.seed),
    )


def _mean_interval(sheet: Sheet, key: Mapping[str, str], among: Sequence[Annotations]) -> Interval:
    totals: dict[str, float] = {}
    counts: dict[str, float] = {}
    for item, episode in sheet.episodes.items():
        found = _mean_score(sheet, key, item, among)
        if found is not None:
            totals[episode] = totals.get(episode, 0.0) + found
            counts[episode] = counts.get(episode, 0.0) + 1
    return mean_interval(Units.of_episodes([*totals.values()], [*counts.values()]), 0.0, 1.0)


def _mean_score(
    sheet: Sheet, key: Mapping[str, str], item: str, among: Sequence[Annotations]
) -> float | None:
    given = [one.labels[item] for one in among if item in one.labels]
    return sum(label_score(sheet.items[item], label, key) for label in given) / len(given) if given else None


def _annotated_items(
    sheet: Sheet, key: Mapping[str, str], annotations: Sequence[Annotations]
) -> list[AnnotatedItem]:
    found = []
    for name, item in sheet.items.items():
        says = {label.name: label.says for label in item.labels}
        labels = {one.annotator: one.labels[name] for one in annotations if name in one.labels}
        comments = {one.annotator: one.comments[name] for one in annotations if name in one.comments}
        if labels or comments:
            found.append(
                AnnotatedItem(
                    name,
                    labels,
                    {who: says[label] for who, label in labels.items()},
                    comments,
                    _mean_score(sheet, key, name, annotations),
                    len({*labels.values()}) > 1,
                )
            )
    return found
