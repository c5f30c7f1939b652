"""The commands `memflow show keys` (counts of gold labels) and `memflow export keys` (gold labels as a file)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from memflow.benchmarks.comem.annotation.label_file import format_label_file
from memflow.benchmarks.comem.annotation.summary import LabelSummary, summarize_labels
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.views import Answer, ExportedFile, Heading, Note, Part, Reader, Table, stored_rows
from memflow.errors import BadInput
from memflow.labels import meta_label

LONGEST, MOST, MOST_REASONS = 120, 5, 10
CAVEAT = "these gold labels are no model's."


def show_gold_labels(reader: Reader, domain: str) -> Answer:
    """Return counts of the gold labels of a domain. Raises BadInput if the domain has no gold labels."""
    of_domain = reader.domain(domain)
    if of_domain.benchmark != "comem":
        raise BadInput(
            f"{domain} belongs to {of_domain.benchmark}, but only comem domains have gold labels. "
            "Choose a comem domain."
        )
    facts = reader.facts("question.keys", domain)
    if facts is None:
        raise BadInput(f"{domain} has no gold labels yet. Build them with `memflow run --domain {domain}`.")
    rows = reader.rows("question.keys", domain)
    records = stored_rows(reader, "raw.records", of_domain.datasets)
    found = summarize_labels(load_contexts(of_domain, records), rows)
    if not found:
        raise BadInput(
            f"{domain}: none of its questions has a gold label. See the reasons with `memflow show made`."
        )
    annotators = sorted({row.made_by for row in rows})
    data = {"domain": domain, "made_by": annotators, "surveys": [asdict(each) for each in found]}
    parts = [Heading(f"{domain}: gold labels by {' and '.join(annotators)}"), *_parts(found)]
    return Answer(data, parts, label=meta_label([facts.meta]), caveat=CAVEAT)


def _parts(found: Sequence[LabelSummary]) -> Iterator[Part]:
    whole = found[0]
    checkpoints = [at.checkpoint for at in whole.checkpoints]
    numbers = ["questions", "kept", "dropped", "failed", *(f"agreed at {number}" for number in checkpoints)]
    rows = [
        [
            each.slice,
            *(each.questions, each.kept, each.dropped, each.failed),
            *(_share(at.agreed, at.both) for at in each.checkpoints),
        ]
        for each in found
    ]
    yield Table(["slice", *numbers], rows)
    numbers = ["unknown", "changed", "as published", "contradicted"]
    by_checkpoint = [
        [
            str(at.checkpoint),
            _share(at.untold, whole.kept),
            _share(at.changed, whole.kept),
            _share(at.as_published, at.published),
            at.contradicted,
        ]
        for at in whole.checkpoints
    ]
    yield Heading("Gold labels of the questions kept, by checkpoint")
    yield Table(["checkpoint", *numbers], by_checkpoint)
    changes = ", ".join(f"{count:,} change {_times(often)}" for often, count in enumerate(whole.changes))
    yield Note(f"Over the checkpoints: {changes or 'no question is kept'}.")
    yield Note("contradicted: questions whose annotator grants an option that it does not choose.")
    yield from _reasons("dropped", whole.dropped_for)
    yield from _reasons("failed", whole.failed_for)


def _reasons(outcome: str, reasons: Mapping[str, int]) -> Iterator[Note]:
    for reason, count in list(reasons.items())[:MOST]:
        line = " ".join(reason.split())
        short = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
        yield Note(f"  {outcome}, {count:,} x: {short}", warning=True)
    rest = list(reasons.values())[MOST:]
    if rest:
        yield Note(f"  {outcome}, {sum(rest):,} x for {len(rest):,} other reasons: --format json has them")


def _times(often: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(often, f"{often} times")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def export_file(reader: Reader, domain: Domain) -> ExportedFile:
    """Return the gold labels of a domain as a file. Raises BadInput if no label can be exported."""
    labels = reader.rows("question.keys", domain.name)
    records = stored_rows(reader, "raw.records", domain.datasets)
    made = format_label_file(domain, load_contexts(domain, records), labels, reader.models)
    if not made.questions:
        reason = next(iter(made.left_out.values()), "the domain has no gold labels")
        raise BadInput(
            f"cannot export any gold label of {domain.name}: {reason}. Rerun `memflow run --domain {domain.name}`."
        )
    reasons = Counter(made.left_out.values()).most_common(MOST_REASONS)
    parts: list[Part] = [
        Note(f"the gold labels of {made.questions:,} questions of {domain.name} are written")
    ]
    if reasons:
        parts.append(Table(("questions", "reason"), [(n, why) for why, n in reasons], title="\nLeft out"))
    parts.append(
        Note(
            "To import them: the same domain with this file as one more data set, and "
            'keys = "imported" (docs/explanation/comem.md)'
        )
    )
    return ExportedFile(made.text, {"questions": made.questions, "left_out": dict(made.left_out)}, parts)
