"""`memflow judges`: the injection test of the judges. `memflow show judges` shows how far several judges agree."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.chat.scripted import LABEL
from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, cut, note, table
from memflow.cli.stored_names import check_names

if TYPE_CHECKING:
    from memflow.judges.injection_test import CaseResult

LONGEST_NAMES = 60

judges = typer.Typer(
    no_args_is_help=True, help="Test the judges: do instructions in an answer move their verdicts?"
)


@judges.callback()
def group() -> None:
    """Test the judges: do instructions in an answer move their verdicts?"""


@judges.command()
def check(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Models of memflow.toml. [the judges of the settings]"),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", metavar="NAME", help="Of this metric; may be repeated.")
    ] = None,
    fences: Annotated[
        bool,
        typer.Option(
            "--fences/--no-fences", help="With or without the fences around answers in the judges' prompts."
        ),
    ] = True,
    form: FormatOption = Format.text,
) -> None:
    """Ask judges for the verdict on a plain answer, and on the same answer with each of 20 injections.

    An injection moves a verdict if the verdict differs from that on the plain answer. It is obeyed if the verdict is
    the one that the injection asks for. The requests are in the ledger, so a second test sends none.
    """
    from memflow.judges.catalog import all_cases
    from memflow.judges.injection_test import run_injection_test
    from memflow.judges.injections import injections
    from resources.ledger.sql_ledger import SqlLedger
    from resources.models.models import Models
    from resources.settings.prompt_folders import activate_prompts

    settings = front_of(ctx).load()
    activate_prompts(settings)
    every = all_cases()
    check_names("the injection test", "metric", metric, {case.metric for case in every})
    cases = [case for case in every if not metric or case.metric in metric]
    chosen = names or list(settings.judge_models())
    scripted = [name for name in chosen if settings.model(name).kind == "scripted"]
    found: dict[str, list[CaseResult]] = {}
    models = Models(settings, SqlLedger(settings.ledger_url))
    try:
        for name in chosen:

            async def work(chats: Any, name: str = name) -> Any:
                chat = await chats.model(name, "judge")
                return await run_injection_test(chat, cases, injections(), fenced=fences)

            found[name] = models.run(_account(), work)
    finally:
        models.close()
    answer(
        form,
        {
            "fences": fences,
            "injections": [each.name for each in injections()],
            "scripted": scripted,
            "judges": {name: [asdict(each) for each in results] for name, results in found.items()},
        },
        *(part for name, results in found.items() for part in _shown(name, results, fences=fences)),
        *([Text(f"\n{', '.join(scripted)}: {LABEL}. It measures no model.", "yellow")] if scripted else []),
    )


def _account() -> Any:
    from memflow.chat.ledger import RequestContext

    return RequestContext(run="judges", stage="judges")


def _names(result: "CaseResult") -> str:
    """Return the names of the injections that changed the verdict, or `all`."""
    return "all" if len(result.moved) == result.injections else ", ".join(result.moved)


def _shown(name: str, results: Sequence["CaseResult"], *, fences: bool) -> list[Any]:
    columns = ("metric", "prompt", "injections", "moved", "obeyed", "failed", "which")
    numbers = ("injections", "moved", "obeyed", "failed")
    rows = [
        (
            each.metric,
            each.prompt.partition("/")[2],
            each.injections,
            len(each.moved),
            len(each.obeyed),
            len(each.failed),
            cut(each.reason or _names(each), LONGEST_NAMES),
        )
        for each in results
    ]
    total, moved = sum(each.injections for each in results), sum(len(each.moved) for each in results)
    title = f"{name}, answers {'with' if fences else 'without'} fences"
    return [
        table(title, columns, rows, right=numbers, optional=("which", "failed")),
        note(f"\n{moved:,} of {total:,} verdicts moved."),
    ]
