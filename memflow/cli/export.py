"""`memflow export`: write recorded runs, verdicts, and the exports that benchmarks declare, to files."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.export_transcript import transcript
from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, note, write
from memflow.cli.views import ExportGroup

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.cli.operands import Stored
    from memflow.scoring.verdict_file import Evaluated

export = typer.Typer(
    cls=ExportGroup,
    no_args_is_help=True,
    help="Write files from the lake: recorded runs, verdicts, users, gold labels.",
)
export.command("transcript")(transcript)


@export.command()
def verdicts(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain.")],
    assistant: Annotated[
        str,
        typer.Argument(metavar="ASSISTANT[=TIME]", help="The assistant, optionally at an earlier moment."),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, such as baseline.jsonl.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Write the verdicts of an assistant to a file, which `memflow gate` compares later runs with.

    One verdict per line, after a header with the settings. The file contains no question, answer or gold.
    """
    from dataclasses import replace

    from memflow.benchmarks import registry
    from memflow.cli.operands import parse_operand, read_operands
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
    answer(
        form,
        {"file": str(file), "verdicts": lines, "probes": len(probes), "episodes": episodes},
        note(
            f"{lines:,} verdicts on {len(probes):,} probes in {episodes:,} episode{'s' * (episodes != 1)} of "
            f"{operand.assistant} in {domain}, in {file}"
        ),
        note(f"Compare a later run with `memflow gate {domain} ASSISTANT --baseline {file}`."),
    )


def evaluated_of(stored: "Stored", domain: "Domain") -> "Evaluated":
    """Return what the verdicts of an operand depend on."""
    import json

    from memflow.cli.operands import SETTINGS
    from memflow.scoring.drift import INPUTS
    from memflow.scoring.verdict_file import Evaluated, probes_digest

    meta, health = stored.source.meta, stored.source.health
    return Evaluated(
        memflow=version("memflow-bench"),
        benchmark=domain.benchmark,
        domain=domain.name,
        assistant=stored.operand.assistant,
        model=meta["model"],
        scripted=meta.get("scripted") == "yes",
        inputs=json.loads(meta.get(INPUTS, "{}")),
        settings={name: meta[name] for name in SETTINGS if meta.get(name, "0") != "0"},
        probes=probes_digest(stored.probes.values()),
        health=None if health is None else health.state,
        health_reason=None if health is None else health.statement,
        run=meta.get("run"),
    )
