"""`memflow annotate`: samples for human annotators, and agreement reports."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.annotation_report import report_data, report_text
from memflow.cli.lazy_commands import App
from memflow.cli.options import DomainArgument, argument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.import_paths import assistant_name
from memflow.operations.stored_names import check_names, check_played
from memflow.rendering.tables import Text
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.annotation.kind import DomainTables, Kind, KindConfig
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

annotate = App(
    no_args_is_help=True,
    help="Have people judge a sample of a domain's data: draw it with its page, and report how far they agree.",
)


@annotate.command()
def sample(
    ctx: typer.Context,
    domain: DomainArgument,
    folder: Annotated[Path, argument("FOLDER", "Where to write: a new folder.")],
    kind: Annotated[
        str,
        option("--kind", "A kind of items that the benchmark declares, such as exposure.", metavar="KIND"),
    ],
    assistant: Annotated[
        str | None, option("--assistant", "Whose conversations; integrity needs one.", parser=assistant_name)
    ] = None,
    count: Annotated[
        int,
        option(
            "--n",
            "Units to draw; 0 is as usual: 200 messages, questions or cases, 40 sessions.",
            metavar="N",
            min=0,
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Another seed is another sample.")] = 0,
    written: Annotated[
        Path | None,
        option("--written", "The folder in which people wrote the texts that feedback is compared with."),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Draw a sample of items from a domain, and write the HTML page on which people annotate it.

    The page is one file that needs no server. key.json contains the correct labels, if known: do not give it to the
    annotators.
    """
    from memflow.annotation.page import page_of
    from memflow.annotation.sheet import KEY, PAGE, write_sheet
    from memflow.resources.lake.lake import Lake

    settings = front_of(ctx).load()
    chosen = _kind(settings.domain(domain).benchmark, kind)
    if chosen.config.played and assistant is None:
        raise BadInput(
            f"the items of kind {kind} come from played conversations, so an assistant is needed. "
            "Choose one with --assistant."
        )
    if not chosen.config.played and assistant is not None:
        raise BadInput(f"the items of kind {kind} are the same for every assistant. Remove --assistant.")
    if (chosen.config.written_on is None) != (written is None):
        raise BadInput(
            f"the items of kind {kind} are not compared with written texts. Remove --written."
            if written
            else f"the items of kind {kind} are compared with texts that people wrote. Sample the kind "
            f"{chosen.config.written_on}, let them write, and name its folder with --written."
        )
    lake = Lake(settings.lake_root)
    sheet, key = chosen.sample(
        domain,
        _tables(lake, domain, assistant, chosen.config, written),
        assistant=assistant,
        count=count,
        seed=seed,
        note=_scripted(lake, settings, domain, chosen.config.stage, assistant),
    )
    paths = write_sheet(folder, sheet, key)
    page = folder / PAGE
    page.write_text(page_of(sheet), encoding="utf-8")
    head = sheet.header
    data = {
        "folder": str(folder),
        "files": [path.name for path in (*paths, page)],
        "items": len(sheet.items),
        **head.model_dump(exclude={"guide"}),
    }
    print_result(
        form,
        data,
        Text(
            f"{head.title} in {head.domain}: {len(sheet.items):,} items about {head.drawn:,} of"
            f" {head.population:,} {head.units}"
        ),
        Text(f"{page} is the page: open it in a browser, or send it to annotators."),
        *([Text(f"{folder / KEY} has the correct labels: do not send it to them.")] if head.keyed else []),
        note(f"Put what annotators save beside them, then: memflow annotate report {folder}"),
        *([Text(f"\n{head.note}", "yellow")] if head.note else []),
    )


@annotate.command()
def report(
    folders: Annotated[list[Path], argument("FOLDER...", "Folders that `annotate sample` wrote.")],
    form: FormatOption = Format.table,
) -> None:
    """Report the mean, the agreement and Gwet's AC1 of the annotations, with 95 % intervals over users.

    A label that means right or valid counts as 1. Annotation files must match their sample.
    """
    from memflow.annotation.annotations import read_all
    from memflow.annotation.report import make_report
    from memflow.annotation.sheet import read_key, read_sheet

    reports = []
    for folder in folders:
        sheet = read_sheet(folder)
        reports.append(make_report(sheet, read_key(folder, sheet), read_all(folder, sheet)))
    print_result(
        form,
        [report_data(report) for report in reports],
        *(part for report in reports for part in report_text(report)),
    )


def _kind(benchmark: str, name: str) -> "Kind":
    """Return a benchmark's kind of annotation items by name. Raises BadInput for an unknown name."""
    from memflow.benchmarks import registry

    kinds = registry.annotation_kinds(benchmark)
    if not kinds:
        others = ", ".join(spec.name for spec in registry.specs() if spec.annotation)
        raise BadInput(f"{benchmark} has no items to annotate. Choose a domain of one of: {others}")
    check_names("", f"{benchmark} kind of items", [name], kinds)
    return kinds[name]


def _tables(
    lake: "Lake", domain: str, assistant: str | None, config: "KindConfig", written: Path | None
) -> "DomainTables":
    """Return the rows of the domain's tables. Raises BadInput if a table is missing."""
    from memflow.annotation.annotations import written_texts
    from memflow.annotation.kind import DomainTables
    from memflow.benchmarks.api import States

    feedback = "feedback.sessions" if config.stage == "feedback" else ""
    for name in filter(None, ("state.profiles", "utterance.turns", "question.probes", feedback)):
        if domain not in lake.partitions(name):
            raise BadInput(
                f"{domain} has no rows in {name}. Create them with `memflow run --domain {domain}`."
            )
    if assistant is not None:
        check_played(lake, domain, assistant)
    return DomainTables(
        States(*(lake.read(f"state.{name}", domain) for name in ("profiles", "variables", "changes"))),
        lake.read("utterance.turns", domain),
        lake.read("question.probes", domain),
        lake.read("memory.transcripts", f"{domain}/{assistant}") if assistant is not None else (),
        lake.read(feedback, domain) if feedback else (),
        written_texts(written, domain, config.written_on or "") if written else {},
    )


def _scripted(
    lake: "Lake", settings: "Settings", domain: str, stage: str, assistant: str | None
) -> str | None:
    """Return a note if a scripted chat instead of a language model generated the items; otherwise None."""
    from memflow.benchmarks.registry import benchmark
    from memflow.chat.scripted import LABEL

    if stage not in benchmark(settings.domain(domain).benchmark).simulator_stages(settings.domain(domain)):
        return None
    labels = [
        facts.meta["scripted"]
        for name in lake.partitions("score.verdicts")
        if name.partition("/")[0] == domain and assistant in (None, name.partition("/")[2])
        for facts in [lake.facts("score.verdicts", name)]
        if facts is not None and "scripted" in facts.meta
    ]
    scripted = "yes" in labels if labels else settings.model(settings.roles.simulator).kind == "scripted"
    return f"What is judged here was made by a simulator that is {LABEL}." if scripted else None
