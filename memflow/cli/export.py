"""`memflow export`: recorded runs, verdicts, and the exports that benchmarks declare."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar

import typer

from memflow.benchmarks import registry
from memflow.cli.lazy_commands import App, CommandReference, LazyGroup
from memflow.cli.options import (
    AssistantArgument,
    DomainArgument,
    FileArgument,
    OverwriteOption,
    argument,
    front_of,
)
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.cli.views import export_command
from memflow.operations.stored_names import check_played
from memflow.rendering.texts import note

PLAYED = "memory.transcripts"


class Exports(LazyGroup):
    """The command group `memflow export`: its own commands, and the exports that benchmarks declare."""

    references: ClassVar = {
        "bundle": CommandReference("memflow.cli.bundle:bundle"),
        "eee": CommandReference("memflow.cli.export_results:eee", reads_past=True),
        "inspect": CommandReference("memflow.cli.export_results:inspect", reads_past=True),
    }

    def declared(self) -> Mapping[str, Callable[[], Any]]:
        return {name: partial(export_command, name, exports) for name, exports in registry.exports().items()}


export = App(
    cls=Exports,
    no_args_is_help=True,
    help="Write results for other tools, recorded runs, verdicts, bundles, users, gold labels.",
)


@export.command()
def transcript(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: AssistantArgument,
    file: FileArgument,
    force: OverwriteOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Write the dialogues of a run to a file, which is a data set for the off-policy evaluation of other memories.

    One message per line, after a header with the speakers, the models and the source data.
    """
    from memflow.run.recording import SCRIPTED, RecordedRun, Source, read, recording_text

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    of = settings.domain(domain)
    check_played(lake, domain, assistant)
    facts = lake.facts(PLAYED, f"{domain}/{assistant}")
    assert facts is not None
    sources = []
    for name in of.datasets:
        if lake.facts("raw.records", name) is not None:
            records = lake.read("raw.records", name)
            sums = list(dict.fromkeys(record.sha256 for record in records))
            first = records[0]
            sources.append(Source(dataset=name, sha256=sums, licence=first.licence, origin=first.origin))
    run = RecordedRun(
        benchmark=of.benchmark,
        domain=domain,
        assistant=assistant,
        model=facts.meta["model"],
        fingerprint=facts.meta["fingerprint"],
        simulator=facts.meta["simulator"],
        scripted=facts.meta[SCRIPTED] == "yes",
        run=facts.meta["run"],
        sources=sources,
    )
    text = recording_text(run, lake.read(PLAYED, f"{domain}/{assistant}"))
    write(file, text, force)
    header, _ = read(text)
    cut = f", {len(header.cut)} sessions cut short" if header.cut else ""
    print_result(
        form,
        {"file": str(file), **header.model_dump()},
        note(
            f"{header.messages:,} messages of {header.episodes:,} episodes{cut}, by {assistant} in {domain} "
            f"(model {header.model}), in {file}"
        ),
        note(
            "To give them to other memories: a domain with the same users and this file as data sets, and "
            'policy = "off" (docs/how-to/results.md)'
        ),
    )


@export.command()
def verdicts(
    ctx: typer.Context,
    domain: DomainArgument,
    assistant: Annotated[
        str, argument("ASSISTANT[=TIME]", "The assistant, optionally at an earlier moment.")
    ],
    file: FileArgument,
    force: OverwriteOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Write the verdicts of an assistant to a file, which `memflow gate` compares later runs with.

    One verdict per line, after a header with the settings. The file contains no question, answer or gold.
    """
    from memflow.operations.operands import evaluated_of, parse_operand, read_operands
    from memflow.resources.publishing.comparisons import VERDICTS
    from memflow.scoring.verdict_file import verdict_text

    operand = replace(parse_operand(assistant), domain=domain)
    [[stored]] = read_operands(front_of(ctx).lake(), [operand])
    of = front_of(ctx).load().domain(domain)
    probes = list(stored.probes.values())
    rows = stored.source.lake.read(VERDICTS, f"{domain}/{operand.assistant}")
    slices = registry.benchmark(of.benchmark).compared_slices(of, probes)
    text = verdict_text(evaluated_of(stored, of), rows, slices)
    write(file, text, force)
    lines = text.count("\n") - 1
    episodes = len({probe.episode_id for probe in probes})
    print_result(
        form,
        {"file": str(file), "verdicts": lines, "probes": len(probes), "episodes": episodes},
        note(
            f"{lines:,} verdicts on {len(probes):,} probes in {episodes:,} episode{'s' * (episodes != 1)} of "
            f"{operand.assistant} in {domain}, in {file}"
        ),
        note(f"Compare a later run with `memflow gate {domain} ASSISTANT --baseline {file}`."),
    )
