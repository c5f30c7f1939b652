"""`show keys`: what came of saying what is right at each checkpoint (CoMem). What is counted is
benchmarks/comem/curation/survey.py."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, cut, heading, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.comem.annotation.summary import LabelSummary

LONGEST, MOST = 120, 5


def keys(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="A domain with keys, of CoMem.")],
    form: FormatOption = Format.text,
) -> None:
    """Show what is right at each checkpoint: how many questions were kept, where annotator and verifier agree, why
    others were dropped, how keys change as the dialogue grows, and how many are as published; by category.
    """
    from memflow.benchmarks.comem.annotation.summary import summarize_labels
    from memflow.benchmarks.comem.load import load_contexts
    from memflow.chat.scripted import LABEL
    from memflow.run.recording import SCRIPTED
    from resources.lake import Lake

    settings = front_of(ctx).load()
    of_domain, lake = settings.domain(domain), Lake(settings.lake_root)
    if of_domain.benchmark != "comem":
        raise BadInput(f"{domain} is of {of_domain.benchmark}: its gold is given, and it has no keys")
    if domain not in lake.partitions("question.keys"):
        raise BadInput(f"{domain} has no keys yet: `memflow run --domain {domain}` makes them")
    rows = lake.read("question.keys", domain)
    read = [name for name in of_domain.datasets if name in lake.partitions("raw.records")]
    found = summarize_labels(load_contexts(of_domain, lake.read_all("raw.records", read)), rows)
    if not found:
        raise BadInput(f"{domain}: none of its questions has a key; `memflow show made` says why")
    facts = lake.facts("question.keys", domain)
    label = LABEL if facts is not None and facts.meta.get(SCRIPTED) == "yes" else None
    hands = sorted({row.made_by for row in rows})
    data = {
        "domain": domain,
        "label": label,
        "made_by": hands,
        "surveys": [asdict(each) for each in found],
    }
    said = [Text(f"\n{label}: these keys are no model's.", "yellow")] if label else []
    answer(form, data, heading(f"{domain}: keys by {' and '.join(hands)}"), *_shown(found), *said)


def _shown(found: Sequence["LabelSummary"]) -> Iterator[RenderableType]:
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
    yield table("", ["slice", *numbers], rows, right=numbers)
    numbers = ["no telling", "changed", "as published", "contradicted"]
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
    yield heading("Keys of the questions kept, by checkpoint")
    yield table("", ["checkpoint", *numbers], by_checkpoint, right=numbers)
    times = ", ".join(f"{count:,} change {_times(often)}" for often, count in enumerate(whole.changes))
    yield note(f"Over the checkpoints: {times or 'none is kept'}.")
    yield note("contradicted: of all questions, those of which a hand calls right what it does not choose.")
    yield from _reasons("dropped", whole.dropped_for)
    yield from _reasons("failed", whole.failed_for)


def _reasons(what: str, reasons: Mapping[str, int]) -> Iterator[RenderableType]:
    for reason, count in list(reasons.items())[:MOST]:
        yield Text(f"  {what}, {count:,} x: {cut(reason, LONGEST)}", style="yellow")
    rest: list[Any] = list(reasons.values())[MOST:]
    if rest:
        yield note(f"  {what}, {sum(rest):,} x for {len(rest):,} other reasons: --format json has them")


def _times(often: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(often, f"{often} times")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"
