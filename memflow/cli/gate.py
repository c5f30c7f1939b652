"""`memflow gate`: whether an assistant is worse than a baseline, as an exit code for CI.

memflow/scoring/gate.py decides; gate_operands.py reads what is compared; gate_output.py writes text and files.
"""

from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, write
from memflow.errors import BadInput
from memflow.scoring.decisions import MARGIN, GateOptions


def gate(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain of the run.")],
    assistant: Annotated[
        str,
        typer.Argument(
            metavar="ASSISTANT", help="The assistant that was run, [:VARIANT] as in `memflow compare`."
        ),
    ],
    baseline: Annotated[
        str,
        typer.Option(
            "--baseline",
            metavar="BASELINE",
            help="An assistant; a moment of one, as ASSISTANT=TIME, or =TIME for the same assistant; or a file of "
            "`memflow export verdicts` (.jsonl).",
        ),
    ],
    margin: Annotated[
        float,
        typer.Option(metavar="SHARE", help="The loss that is accepted, as a share of the metric's range."),
    ] = MARGIN,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Require this metric, and compare only such metrics; may be repeated. [compare the quality metrics, "
            "and require those of at least 6 episodes]",
        ),
    ] = None,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            metavar="NAME",
            help="Require this slice, and compare only such slices; may be repeated; `all` stands for all probes. "
            "[require all probes, and report a regression in any slice]",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a JUnit XML file, replacing it.")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Decide whether an assistant is worse than a baseline, for CI.

    Exit code 0: no regression, a loss of the margin is excluded. 1: regression, the 95 % interval of new - old is on
    the worse side of 0, and the adjusted p value is below 0.05. 2: cannot tell: too few episodes, a faulty memory, or
    other probes, data or judges. 3: nothing was compared, because the command line or a file is wrong.

    Examples of baselines: `--baseline bm25_message`, `--baseline =2026-11-20`, `--baseline baseline.jsonl`.
    """
    from memflow.cli.gate_operands import Gated, gated
    from memflow.cli.gate_output import gate_data, gate_junit, gate_parts

    if not 0 < margin <= 1:
        raise BadInput(
            f"--margin {margin:g} is no share of a metric's range. Use a number above 0 and up to 1, such as {MARGIN}."
        )
    front = front_of(ctx)
    options = GateOptions(margin, tuple(metric or ()), frozenset(slices or ()))
    decided = gated(front.load(), front.lake(), Gated(domain, assistant, baseline, options))
    if junit is not None:
        write(junit, gate_junit(decided), force=True)
    answer(form, gate_data(decided), *gate_parts(decided))
    if code := decided.result.exit_code:
        raise typer.Exit(code)
