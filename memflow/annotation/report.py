"""The report of a sheet: mean score, agreement and Gwet's AC1 of people, and of a model against their majority.

An item's score is the mean of the scores that people gave. Agreement compares label categories (sheet.label_category).
Confidence intervals are over episodes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.annotation.annotations import Annotations
from memflow.annotation.sheet import Sheet, label_categories, label_category, label_score
from memflow.errors import BadInput
from memflow.metrics.agreement import cohen_kappa, gwet_ac1, percent_agreement
from memflow.metrics.intervals import Interval, Units, mean_interval

NO_INTERVAL = Interval(None, None, None)


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A row of the annotation report: all people together, one annotator, or a model compared with the people.

    `labelled` counts items with a label, `paired` counts items with two or more labels, from which agreement is
    computed. `kappa` is Cohen's, for exactly two raters. `missing` counts items without a usable label of a model.
    """

    of: str
    by: str
    labelled: int
    paired: int
    mean: Interval
    agreement: Interval = NO_INTERVAL
    ac1: Interval = NO_INTERVAL
    kappa: Interval = NO_INTERVAL
    missing: int = 0


@dataclass(frozen=True, slots=True)
class AnnotatedItem:
    """An annotated item with the labels and comments of each annotator; `differs` is True if people disagree."""

    item: str
    labels: Mapping[str, str]
    says: Mapping[str, str]
    comments: Mapping[str, str]
    score: float | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The annotation report of one sheet. The first row of `measured` covers all human annotators."""

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
    persons = [one for one in annotations if one.by == "person"]
    models = [one for one in annotations if one.by == "model"]
    measured = []
    if len(persons) > 1:
        labels = [[one.labels.get(item) for one in persons] for item in sheet.items]
        measured.append(_agreement_row(sheet, key, f"{len(persons)} persons", "person", labels, persons))
    measured += [_row_of_one(sheet, key, one) for one in persons]
    measured += [_row_of_model(sheet, key, model, persons) for model in models]
    notes = [note for note in (sheet.header.note, *(one.note for one in annotations)) if note]
    return Report(
        sheet, measured, [*_annotated_items(sheet, key, persons, annotations)], list(dict.fromkeys(notes))
    )


def _row_of_one(sheet: Sheet, key: Mapping[str, str], one: Annotations) -> AgreementRow:
    mean = _mean_interval(sheet, key, [one])
    return AgreementRow(one.annotator, one.by, len(one.labels), 0, mean, missing=len(one.failed))


def _row_of_model(
    sheet: Sheet, key: Mapping[str, str], model: Annotations, persons: Sequence[Annotations]
) -> AgreementRow:
    """Return the row that compares a model with the majority label of the people. `mean` is the model's mean score."""
    alone = _row_of_one(sheet, key, model)
    if not persons:
        return alone
    most = {item: _majority_label(item, persons) for item in sheet.items}
    labels = [[most[item], model.labels.get(item)] for item in sheet.items]
    name = f"{model.annotator} against the persons"
    found = _agreement_row(sheet, key, name, model.by, labels, [model])
    return replace(found, labelled=alone.labelled, mean=alone.mean, missing=alone.missing)


def _agreement_row(
    sheet: Sheet,
    key: Mapping[str, str],
    of: str,
    by: str,
    labels: Sequence[Sequence[str | None]],
    among: Sequence[Annotations],
) -> AgreementRow:
    items = sheet.items
    ratings = [
        [None if label is None else label_category(item, label, key) for label in row]
        for item, row in zip(items.values(), labels, strict=True)
    ]
    allowed, episodes = label_categories(sheet), list(sheet.episodes.values())
    given = [sum(label is not None for label in row) for row in ratings]
    return AgreementRow(
        of,
        by,
        sum(count > 0 for count in given),
        sum(count > 1 for count in given),
        _mean_interval(sheet, key, among),
        percent_agreement(ratings, allowed, episodes=episodes),
        gwet_ac1(ratings, allowed, episodes=episodes, seed=sheet.header.seed),
        cohen_kappa(ratings, allowed, episodes=episodes, seed=sheet.header.seed)
        if all(len(row) == 2 for row in ratings)
        else NO_INTERVAL,
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


def _majority_label(item: str, persons: Sequence[Annotations]) -> str | None:
    ranked = Counter(one.labels[item] for one in persons if item in one.labels).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _annotated_items(
    sheet: Sheet, key: Mapping[str, str], persons: Sequence[Annotations], annotations: Sequence[Annotations]
) -> list[AnnotatedItem]:
    found = []
    for name, item in sheet.items.items():
        says = {label.name: label.says for label in item.labels}
        labels = {one.annotator: one.labels[name] for one in annotations if name in one.labels}
        comments = {one.annotator: one.comments[name] for one in annotations if name in one.comments}
        if labels or comments:
            given = {one.labels[name] for one in persons if name in one.labels}
            found.append(
                AnnotatedItem(
                    name,
                    labels,
                    {who: says[label] for who, label in labels.items()},
                    comments,
                    _mean_score(sheet, key, name, persons),
                    len(given) > 1,
                )
            )
    return found
