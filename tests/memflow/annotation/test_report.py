"""Annotation reports: agreement values checked by hand, and the page of a sheet."""

from itertools import product

import pytest

from memflow.annotation.annotations import Annotations
from memflow.annotation.page import page_of
from memflow.annotation.report import make_report
from memflow.annotation.sheet import Header, Item, Label, Part, Sheet, Unit, make_sheet
from memflow.errors import BadInput

FULL, HALF, NONE = (
    Label(name="full", says="Fully", value=1),
    Label(name="half", says="Partly", value=0.5),
    Label(name="none", says="Not at all", value=0),
)
OPTIONS = [
    Label(name="option_1", says="a red hat"),
    Label(name="option_2", says="a blue coat"),
    Label(name="several", says="Several", value=0),
]


def sheet(users: int = 5, each: int = 25, labels: list[Label] | None = None) -> Sheet:
    head = header(drawn=users * each, population=users * each, keyed=labels is OPTIONS)
    shown = [Part(title="TranscriptMessage", text="I wear a blue coat.")]
    units = []
    for user, number in product(range(users), range(each)):
        item = Item(id=f"{user}/{number}#x", asks="?", labels=labels or [FULL, NONE])
        units.append(Unit(id=f"{user}/{number}", episode=str(user), shown=shown, items=[item]))
    return make_sheet(head, units)


def header(**values) -> Header:
    given = {"kind": "exposure", "title": "T", "guide": "G", "domain": "d", "seed": 0, "units": "messages"}
    return Header(**{"benchmark": "amemgym", **given, **values})


def by(name: str, made: Sheet, labels: list[str | None]) -> Annotations:
    items = zip(made.items, labels, strict=False)
    return Annotations(name, {item: label for item, label in items if label is not None})


def test_agreement_of_two_annotators_matches_hand_calculated_values() -> None:
    made = sheet()
    first = by("Ann", made, ["full"] * 118 + ["full"] * 5 + ["none"] * 2)
    second = by("Bo", made, ["full"] * 118 + ["none"] * 5 + ["full"] * 2)
    report = make_report(made, {}, [first, second])
    both, ann, bo = report.measured
    assert (both.of, both.labelled, both.paired) == ("2 persons", 125, 125)
    assert both.agreement.value == pytest.approx(0.944)
    assert both.ac1.value == pytest.approx(0.94078, abs=5e-6)
    assert both.kappa.value < 0
    assert both.mean.value == pytest.approx((118 + 7 / 2) / 125)
    assert (ann.mean.value, bo.mean.value) == (pytest.approx(123 / 125), pytest.approx(120 / 125))
    assert both.ac1.low < both.ac1.value <= both.ac1.high
    differing = [each for each in report.judged if each.differs]
    assert len(differing) == 7 and differing[0].says == {"Ann": "Fully", "Bo": "Not at all"}


def test_annotation_report_excludes_missing_labels_from_mean_and_agreement() -> None:
    made = sheet(2, 2, [FULL, HALF, NONE])
    one = by("Ann", made, ["full", "half", None, None])
    two = by("Bo", made, ["half", None, "none", None])
    both = make_report(made, {}, [one, two]).measured[0]
    assert (both.labelled, both.paired) == (3, 1)
    assert both.mean.value == pytest.approx((0.75 + 0.5 + 0) / 3)
    assert both.agreement.value == 0


def test_report_scores_option_labels_with_the_answer_key() -> None:
    made = sheet(1, 4, OPTIONS)
    key = dict.fromkeys(made.items, "option_2")
    one = by("Ann", made, ["option_2", "option_1", "several", "option_2"])
    two = by("Bo", made, ["option_2", "option_1", "option_1", "option_2"])
    both = make_report(made, key, [one, two]).measured[0]
    assert both.mean.value == 0.5 and both.agreement.value == 0.75


def test_annotation_page_escapes_script_tags_in_item_text() -> None:
    malicious = "</script><script>alert(1)</script>{{policy}}&amp;<!--\u2028"
    item = Item(id="i", asks=malicious, labels=[FULL, NONE])
    unit = Unit(id="u", episode="e", shown=[Part(title="t", text=malicious)], items=[item])
    head = sheet(1, 1).header.model_copy(update={"title": malicious})
    page = page_of(make_sheet(head, [unit]))
    assert page.count("</script>") == 2 and "alert(1)</script>" not in page and "<!--" not in page
    assert "{{policy}}" in page  # as it was said, and not filled in
    assert not any(word in page for word in ("http://", "https://", "src=", "@import", "url("))
    assert "default-src 'none'" in page and "unsafe-inline" not in page


def test_make_report_rejects_a_sheet_without_annotations() -> None:
    with pytest.raises(BadInput, match="the sheet of exposure in d has no annotations"):
        make_report(sheet(1, 2), {}, [])
