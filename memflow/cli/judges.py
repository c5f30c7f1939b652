"""`memflow judges`: the calibration and the injection test of judges. `memflow show judges`: how far several agree."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import RenderableType

from memflow.chat.scripted import LABEL
from memflow.cli.lazy_commands import App
from memflow.cli.options import MetricFilter, argument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.messages import terminal_console
from memflow.operations.stored_names import check_names
from memflow.rendering.tables import Columns, Text, table_of
from memflow.rendering.texts import cut, note, share_text

if TYPE_CHECKING:
    from memflow.chat.requests import Chat
    from memflow.judges.cases import JudgeCase
    from memflow.judges.injections import CaseResult
    from memflow.records import Calibration

T = TypeVar("T")

JudgesArgument = Annotated[
    list[str] | None, argument("[NAME]...", "Models of memflow.toml. [the judges of the settings]")
]
LONGEST_NAMES = 60
COLUMNS: Columns = {
    "metric": "metric",
    "prompt": lambda case: case.prompt.partition("/")[2],
    "injections": "injections",
    "moved": lambda case: len(case.moved),
    "obeyed": lambda case: len(case.obeyed),
    "failed": lambda case: len(case.failed),
    "which": lambda case: cut(
        case.reason or ("all" if len(case.moved) == case.injections else ", ".join(case.moved)), LONGEST_NAMES
    ),
}

CALIBRATED: Columns = {
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
    """Test the judges: do they know right from wrong answers, and do instructions in an answer move their verdicts?"""


@judges.command()
def check(
    ctx: typer.Context,
    names: JudgesArgument = None,
    metric: MetricFilter = None,
    fences: Annotated[
        bool, typer.Option(help="With or without the fences around answers in the judges' prompts.")
    ] = True,
    form: FormatOption = Format.table,
) -> None:
    """Ask judges for the verdict on a plain answer, and on the same answer with each of 20 injections.

    An injection moves a verdict if the verdict differs from that on the plain answer. It is obeyed if the verdict is
    the one that the injection asks for. The requests are in the ledger, so a second test sends none.
    """
    from memflow.judges.injections import injections, run_injection_test

    async def test(_: str, chat: "Chat", cases: "Sequence[JudgeCase]") -> "list[CaseResult]":
        return await run_injection_test(chat, cases, fenced=fences)

    results, scripted = _of_judges(ctx, names, metric, "the injection test", test)
    parts: list[RenderableType] = []
    for name, of_judge in results.items():
        total = sum(case.injections for case in of_judge)
        moved = sum(len(case.moved) for case in of_judge)
        parts.append(table_of(of_judge, COLUMNS, f"{name}, answers {'with' if fences else 'without'} fences"))
        parts.append(note(f"\n{moved:,} of {total:,} verdicts moved."))
    print_result(
        form,
        {
            "fences": fences,
            "injections": [injection.name for injection in injections()],
            "scripted": scripted,
            "judges": {name: [asdict(case) for case in of_judge] for name, of_judge in results.items()},
        },
        *parts,
        *_scripted_note(scripted),
        rows=[{"judge": name, **asdict(case)} for name, of_judge in results.items() for case in of_judge],
    )


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
    from memflow.judges.calibration import BOUND, calibrate_cases, languages

    check_names("the calibration", "language", language, set(languages()))

    with terminal_console(stderr=True).status("") as status:

        async def test(name: str, chat: "Chat", cases: "Sequence[JudgeCase]") -> "list[Calibration]":
            done = count(1)
            return await calibrate_cases(
                chat,
                cases,
                language or ["en"],
                name,
                tick=lambda: status.update(f"{name}: {next(done):,} verdicts"),
            )

        results, scripted = _of_judges(ctx, names, metric, "the calibration", test)
    parts: list[RenderableType] = []
    for name, rows in results.items():
        parts.append(table_of(rows, CALIBRATED, name))
        parts += [note(f"{row.reason}.") for row in rows if row.reason]
    calibrations = [asdict(row) for of_judge in results.values() for row in of_judge]
    print_result(
        form,
        {"bound": BOUND, "scripted": scripted, "calibrations": calibrations},
        *parts,
        note("\nRight and wrong answers are constructed, so no score is corrected by these shares."),
        *_scripted_note(scripted),
        rows=calibrations,
    )


def _of_judges(
    ctx: typer.Context,
    names: Sequence[str] | None,
    metric: Sequence[str] | None,
    subject: str,
    test: "Callable[[str, Chat, Sequence[JudgeCase]], Coroutine[Any, Any, list[T]]]",
) -> tuple[dict[str, list[T]], list[str]]:
    """Return the results of each judge on the cases of some metrics, and the names of the scripted judges."""
    from memflow.chat.ledger import RequestContext
    from memflow.judges.catalog import all_cases
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.models.models import Models
    from memflow.resources.settings.prompt_folders import activate_prompts

    settings = front_of(ctx).load()
    activate_prompts(settings)
    every = all_cases()
    check_names(subject, "metric", metric, {case.metric for case in every})
    cases = [case for case in every if not metric or case.metric in metric]
    chosen = names or list(settings.judge_models())
    scripted = [name for name in chosen if settings.model(name).kind == "scripted"]
    results: dict[str, list[T]] = {}
    with Models(settings, SqlLedger(settings.ledger_url)) as models:
        for name in chosen:

            async def work(chats: Any, name: str = name) -> list[T]:
                return await test(name, await chats.model(name, "judge"), cases)

            results[name] = models.run(RequestContext(run="judges", stage="judges"), work)
    return results, scripted


def _scripted_note(scripted: Sequence[str]) -> list[Text]:
    return [Text(f"\n{', '.join(scripted)}: {LABEL}. It measures no model.", "yellow")] if scripted else []
