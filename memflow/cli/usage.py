"""`accounts`: what was asked of the models, and what it took."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from resources.ledger import SqlLedger
    from resources.settings import Settings


class By(StrEnum):
    """What the accounts can be drawn up by."""

    run = "run"
    stage = "stage"
    role = "role"
    domain = "domain"
    assistant = "assistant"
    model = "model"
    prompt = "prompt"


ByOption = Annotated[
    list[By] | None, typer.Option("--by", help="What a line is of; may be repeated. [stage, role, model]")
]
RunOption = Annotated[str | None, typer.Option("--run", metavar="ID", help="The accounts of one run alone.")]

NUMBERS = (
    "calls",
    "replayed",
    "failures",
    "prompt_tokens",
    "completion_tokens",
    "seconds",
    "cost",
)


def accounts(
    ctx: typer.Context, by: ByOption = None, run: RunOption = None, form: FormatOption = Format.text
) -> None:
    """Show what was asked of the models: calls, replays, failures, tokens, seconds and cost.

    A call was asked of a model; a replay was answered from the ledger. Tokens and cost are those of the
    calls; seconds are the latencies of calls and replays, as when first asked.
    """
    from resources.ledger import SqlLedger

    settings = front_of(ctx).load()
    chosen = tuple(each.value for each in by or (By.stage, By.role, By.model))
    with SqlLedger(settings.ledger_url) as ledger:
        rows = booked(ledger, settings, chosen, run)
    if run is not None and not rows:
        raise BadInput(f"nothing is booked for the run {run!r}; `memflow accounts --by run` lists the runs")
    total = {name: sum(row[name] for row in rows) for name in NUMBERS}
    shown = [[row[name] for name in (*chosen, *NUMBERS)] for row in rows]
    shown.append(["total", *("" for _ in chosen[1:]), *(total[name] for name in NUMBERS)])
    labels = [name.replace("_", " ") for name in NUMBERS]
    answer(
        form,
        {"accounts": rows, "total": total},
        table(
            "Accounts" if run is None else f"Accounts of run {run}", (*chosen, *labels), shown, right=labels
        ),
        note("" if rows else "Nothing is booked yet: `memflow run --demo` asks the first questions."),
    )


def booked(
    ledger: "SqlLedger", settings: "Settings", by: Sequence[str], run: str | None = None
) -> list[dict[str, Any]]:
    """The accounts as plain rows, in the order of the names they are by; costs at the settings' prices."""
    from resources.limits import Prices
    from resources.usage import cost

    prices = {name: Prices(model.price_in, model.price_out) for name, model in settings.models.items()}
    by_model = tuple(dict.fromkeys((*by, "model")))  # prices are a model's
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in ledger.accounts(by_model, run=run):
        names = tuple(line.by[name] for name in by)
        row = rows.setdefault(names, {**dict(zip(by, names, strict=True)), **dict.fromkeys(NUMBERS, 0)})
        row["calls"] += line.asked
        row["replayed"] += line.kept
        row["failures"] += line.failed
        row["prompt_tokens"] += line.paid_prompt_tokens
        row["completion_tokens"] += line.paid_completion_tokens
        row["seconds"] += line.latency_s
        row["cost"] += cost(line, prices)
    return [rows[names] for names in sorted(rows)]
