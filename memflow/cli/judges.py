"""`memflow judges`: the injection test of the judges. `memflow show judges` shows how far several judges agree."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.chat.scripted import LABEL
from memflow.cli.front import front_of
from memflow.cli.lazy_commands import App
from memflow.cli.options import MetricFilter, argument
from memflow.cli.output import Columns, Format, FormatOption, Text, answer, cut, note, table_of
from memflow.cli.stored_names import check_names

if TYPE_CHECKING:
    from memflow.judges.injection_test import CaseResult

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

judges = App(no_args_is_help=True)


@judges.callback()
def group() -> None:
    """Test the judges: do instructions in an answer move their verdicts?"""


@judges.command()
def check(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None, argument("[NAME]...", "Models of memflow.toml. [the judges of the settings]")
    ] = None,
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
    from memflow.chat.ledger import RequestContext
    from memflow.judges.catalog import all_cases
    from memflow.judges.injection_test import run_injection_test
    from memflow.judges.injections import injections
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.models.models import Models
    from memflow.resources.settings.prompt_folders import activate_prompts

    settings = front_of(ctx).load()
    activate_prompts(settings)
    every = all_cases()
    check_names("the injection test", "metric", metric, {case.metric for case in every})
    cases = [case for case in every if not metric or case.metric in metric]
    chosen = names or list(settings.judge_models())
    scripted = [name for name in chosen if settings.model(name).kind == "scripted"]
    results: dict[str, list[CaseResult]] = {}
    with Models(settings, SqlLedger(settings.ledger_url)) as models:
        for name in chosen:

            async def work(chats: Any, name: str = name) -> Any:
                chat = await chats.model(name, "judge")
                return await run_injection_test(chat, cases, injections(), fenced=fences)

            results[name] = models.run(RequestContext(run="judges", stage="judges"), work)
    parts: list[RenderableType] = []
    for name, of_judge in results.items():
        total = sum(case.injections for case in of_judge)
        moved = sum(len(case.moved) for case in of_judge)
        parts.append(table_of(of_judge, COLUMNS, f"{name}, answers {'with' if fences else 'without'} fences"))
        parts.append(note(f"\n{moved:,} of {total:,} verdicts moved."))
    answer(
        form,
        {
            "fences": fences,
            "injections": [injection.name for injection in injections()],
            "scripted": scripted,
            "judges": {name: [asdict(case) for case in of_judge] for name, of_judge in results.items()},
        },
        *parts,
        *([Text(f"\n{', '.join(scripted)}: {LABEL}. It measures no model.", "yellow")] if scripted else []),
        rows=[{"judge": name, **asdict(case)} for name, of_judge in results.items() for case in of_judge],
    )
