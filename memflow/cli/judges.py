"""`memflow judges`: the calibration of judges. `memflow show judges` shows how far several agree."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.chat.scripted import LABEL
from memflow.cli.front import front_of
from memflow.cli.lazy_commands import App
from memflow.cli.options import MetricFilter, argument, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.messages import terminal_console
from memflow.operations.stored_names import check_names
from memflow.rendering.tables import Columns, Text, table_of
from memflow.rendering.texts import note, share_text

if TYPE_CHECKING:
    from memflow.records import Calibration

JudgesArgument = Annotated[
    list[str] | None, argument("[NAME]...", "Models of memflow.toml. [the judges of the settings]")
]
COLUMNS: Columns = {
    "metric": "metric",
    "prompt": lambda row: row.prompt.partition("/")[2],
    "language": "language",
    "right accepted": lambda row: f"{row.accepted_right} of {row.right}",
    "sensitivity": lambda row: share_text(row, "sensitivity"),
    "wrong accepted": lambda row: f"{row.accepted_wrong} of {row.wrong}",
    "specificity": lambda row: share_text(row, "specificity"),
    "out of form": lambda row: f"{row.out_of_form / row.cases:.0%}",
    "result": lambda row: "passed" if row.passed else "withheld",
}

judges = App(no_args_is_help=True)


@judges.callback()
def group() -> None:
    """Test the judges: do they know right from wrong answers?"""


@judges.command()
def calibrate(
    ctx: typer.Context,
    names: JudgesArgument = None,
    metric: MetricFilter = None,
    language: Annotated[
        list[str] | None, option("--language", "en or zh; may be repeated. [en]", metavar="LANGUAGE")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Ask judges for verdicts on known answers: do they accept the right ones and reject the wrong ones?

    A judge's scores are withheld where the lower 95 % limit of sensitivity + specificity - 1 is below 0.5. A verdict
    out of form counts neither as right nor as wrong. `memflow run` asks the same for the judges that it uses. The
    requests are in the ledger, so a second calibration sends none. docs/how-to/judges.md explains the known answers.
    """
    from memflow.chat.ledger import RequestContext
    from memflow.judges.calibration import BOUND, calibrate_cases, languages
    from memflow.judges.catalog import all_cases
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.models.models import Models
    from memflow.resources.settings.prompt_folders import activate_prompts

    settings, every = front_of(ctx).load(), all_cases()
    activate_prompts(settings)
    check_names("the calibration", "language", language, set(languages()))
    check_names("the calibration", "metric", metric, {case.metric for case in every})
    cases = [case for case in every if not metric or case.metric in metric]
    chosen = names or list(settings.judge_models())
    scripted = [name for name in chosen if settings.model(name).kind == "scripted"]
    results: dict[str, list[Calibration]] = {}
    with (
        terminal_console(stderr=True).status("") as status,
        Models(settings, SqlLedger(settings.ledger_url)) as models,
    ):
        for name in chosen:
            done = count(1)

            def tick(name: str = name, done: Iterator[int] = done) -> None:
                status.update(f"{name}: {next(done):,} verdicts")

            async def work(chats: Any, name: str = name, tick: Any = tick) -> "list[Calibration]":
                judge = await chats.model(name, "judge")
                return await calibrate_cases(judge, cases, language or ["en"], name, tick=tick)

            results[name] = models.run(RequestContext(run="judges", stage="judges"), work)
    parts: list[RenderableType] = []
    for name, rows in results.items():
        parts.append(table_of(rows, COLUMNS, name))
        parts += [note(f"{row.reason}.") for row in rows if row.reason]
    if scripted:
        parts.append(Text(f"\n{', '.join(scripted)}: {LABEL}. It measures no model.", "yellow"))
    calibrations = [asdict(row) for of_judge in results.values() for row in of_judge]
    print_result(
        form,
        {"bound": BOUND, "scripted": scripted, "calibrations": calibrations},
        *parts,
        note("\nRight and wrong answers are constructed, so no score is corrected by these shares."),
        rows=calibrations,
    )
