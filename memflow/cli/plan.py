"""`memflow plan`: a forecast of a run's calls, tokens, time and cost by stage.

memflow/operations/forecast.py determines the steps of the run; this module computes prices and sums, and prints them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.output import Format, FormatOption, print_result
from memflow.cli.selection import Selection, with_selection
from memflow.operations.required_checks import memory_server_notes
from memflow.records import TABLES
from memflow.rendering.tables import FittedTable, Text, table
from memflow.rendering.texts import duration, note

if TYPE_CHECKING:
    from memflow.operations.forecast import Forecast
    from memflow.resources.settings.settings import Settings
    from memflow.run.dry_run import StepForecast

LatencyOption = Annotated[
    float | None,
    typer.Option(
        "--latency",
        min=0.0,
        help="Seconds that each request is assumed to take. [what the ledger recorded of the model; else no time]",
        show_default=False,
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="As for run: include partitions that are up to date.")
]
STAGES = tuple(dict.fromkeys(table.partition(".")[0] for table in TABLES))
NUMBERS = ("calls", "retries", "prompt_tokens", "completion_tokens", "most_tokens")
COSTS = ("cost", "most_cost", "known_cost")
LARGE_RUN = 50_000_000
"""Prompt tokens of a run from which the plan warns: a memory that reads long conversations sends them all."""


@with_selection
def plan(
    ctx: typer.Context,
    selection: Selection,
    latency: LatencyOption = None,
    force: ForceOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Forecast the calls, tokens, time and cost of a run, by stage.

    No model is called: the pipeline runs in memory with the scripted chat. Answers are assumed to be as long as
    recorded answers of real models, of the same model where the ledger has them, and never longer than their limits.
    `at most` is the maximum that these limits allow, which a budget reserves for each request.
    """
    # Imported after the selection, so that a misspelled name fails fast.
    from memflow.operations.forecast import forecast
    from memflow.resources.ledger.usage import known_sum

    planned = forecast(selection, latency, force)
    settings = selection.settings
    stages = _totals(planned.steps, settings, ("stage", "role", "model"))
    of_assistants = [step for step in planned.steps if step.assistant]
    assistants = _totals(of_assistants, settings, ("domain", "assistant"))
    equal = _equal(of_assistants, assistants)
    total = {name: known_sum(row[name] for row in stages) for name in (*NUMBERS, *COSTS)}
    seconds = _seconds(planned.steps, ("stage",))
    whole = known_sum(seconds.values())
    assumptions = _assumptions(planned, settings, latency)
    if retrieving := [f"{name} in {domain}" for domain, name in selection.retrieval_only]:
        assumptions.append(f"retrieval is measured without requests: {', '.join(retrieving)}")
    unpriced = [*dict.fromkeys(row["model"] for row in stages if row["cost"] is None)]
    by_assistant: list[RenderableType] = []
    if assistants:
        by = ("domain", "assistant")
        by_assistant = [Text(), _table("By assistant", by, assistants, _seconds(of_assistants, by))]
    print_result(
        form,
        {
            "stages": stages,
            "seconds_by_stage": {stage: value for (stage,), value in seconds.items()},
            "assistants": assistants,
            "steps": [asdict(step) for step in planned.steps],
            "total": {**total, "seconds": whole},
            "equal": equal,
            "up_to_date": planned.up_to_date,
            "left_out": planned.left_out,
            "failing": planned.failing,
            "warnings": _warnings(assistants, total["prompt_tokens"]),
            "missing": {
                name: [dataset.name for dataset in lacking] for name, lacking in planned.missing.items()
            },
            "assumptions": assumptions,
        },
        _table(
            "By stage",
            ("stage", "role", "model"),
            [*stages, {"stage": "total", **total}],
            {**seconds, ("total",): whole},
        ),
        *by_assistant,
        *(
            note(f"{name} sends no new request: its requests are equal to those of {', '.join(others)}.")
            for name, others in equal.items()
        ),
        *(Text(f"\n{text}", "yellow") for text in _warnings(assistants, total["prompt_tokens"])),
        *_notes(planned, unpriced, assumptions),
    )


def _totals(steps: Iterable["StepForecast"], settings: "Settings", by: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sums of calls, tokens and costs, grouped by the attributes in `by`, in pipeline order.

    A cost is None where a model has no price; `known_cost` is that of the other models.
    """
    from memflow.resources.ledger.usage import known_sum

    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    zeros = dict.fromkeys((*NUMBERS, *COSTS), 0)
    for step in steps if "stage" not in by else ():  # an assistant without new requests has a row, too
        names = tuple(getattr(step, name) for name in by)
        rows.setdefault(names, {**dict(zip(by, names, strict=True)), **zeros})
    for step in sorted(steps, key=lambda step: STAGES.index(step.stage)) if "stage" in by else steps:
        for count in step.counts:
            names = tuple(getattr(count if hasattr(count, name) else step, name) for name in by)
            row = rows.setdefault(names, {**dict(zip(by, names, strict=True)), **zeros})
            for name in NUMBERS:
                row[name] += getattr(count, name)
            prices = settings.prices_of(count.model)
            answers = {"cost": count.completion_tokens, "most_cost": count.most_tokens}
            for name, tokens in answers.items():
                cost = prices.cost(count.prompt_tokens, tokens) if prices else None
                row[name] = known_sum((row[name], cost))
            row["known_cost"] += prices.cost(count.prompt_tokens, count.completion_tokens) if prices else 0
    return list(rows.values())


def _equal(steps: Iterable["StepForecast"], assistants: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the partitions without new requests, each with those whose requests are equal to its own."""
    from memflow.pipeline import partition_key

    equal: dict[str, dict[str, None]] = {
        partition_key(row["domain"], row["assistant"]): {} for row in assistants if not row["calls"]
    }
    for step in steps:
        if (name := partition_key(step.domain, step.assistant)) in equal:
            equal[name] |= dict.fromkeys(step.equal_to)
    return {name: [*others] for name, others in equal.items() if others}


def _warnings(assistants: Sequence[dict[str, Any]], prompt_tokens: float | None) -> list[str]:
    """Return a sentence if the models of a run read LARGE_RUN tokens or more, with the assistant that sends most."""
    if not prompt_tokens or prompt_tokens < LARGE_RUN:
        return []
    most = max(assistants, key=lambda row: row["prompt_tokens"], default=None)
    part = f", of which {most['domain']}/{most['assistant']} sends {most['prompt_tokens']:,}" if most else ""
    return [
        f"This run sends {prompt_tokens:,.0f} prompt tokens{part}. Run a sample first (--limit 1), and set limits in "
        "[budget] of memflow.toml."
    ]


def _assumptions(planned: "Forecast", settings: "Settings", latency: float | None) -> list[str]:
    from memflow.resources.endpoints.hosted_models import find_hosted

    playing = dict.fromkeys(settings.role_models())
    listed = {name: find_hosted(settings.model(name).model) for name in playing}
    at_once = ", ".join(f"{name} {settings.model(name).concurrency}" for name in playing)
    return [
        *_rates(planned, latency, at_once),
        "answers are as long as recorded ones of real models (memflow/run/answer_lengths.toml), or of the same model "
        "where the ledger has 10 to a prompt; `at most` is the sum of their limits, each of which a budget reserves",
        "retries after cut or unusable answers are as frequent as recorded, or as for the same model where the ledger "
        "has 10 answers in a role; no request is in the ledger",
        "requests to an embedding endpoint are not counted",
        *(
            f"{name}: {hosted.prices.prompt:g} and {hosted.prices.completion:g} US dollars per million prompt and "
            f"answer tokens, the price list of {hosted.date}; prompt tokens from the provider's cache cost less"
            for name, hosted in listed.items()
            if hosted and hosted.prices == settings.prices_of(name)
        ),
        *memory_server_notes(settings, planned.assistants),
    ]


def _rates(planned: "Forecast", latency: float | None, at_once: str) -> Iterator[str]:
    """Yield how long requests are assumed to take, and of which models this is not known."""
    if latency is not None:
        yield f"each request takes {latency:g} s (--latency), with this many at once: {at_once}"
        return
    rates = planned.recorded.seconds
    used = dict.fromkeys(count.model for step in planned.steps for count in step.counts)
    if known := [f"{model} {rates[model]:.3g} s" for model in used if model in rates]:
        yield f"a request takes as long as those in the ledger ({', '.join(known)}), with this many at once: {at_once}"
    if unknown := [model for model in used if model not in rates]:
        yield f"no time is stated: the ledger has no requests to {', '.join(unknown)}; `--latency 1` assumes a second"


def _seconds(steps: Iterable["StepForecast"], by: Sequence[str]) -> dict[tuple[str, ...], float | None]:
    """Return the seconds of steps, summed by the attributes in `by`; None where those of a step are not known."""
    from memflow.resources.ledger.usage import known_sum

    seconds: dict[tuple[str, ...], float | None] = {}
    for step in steps:
        group = tuple(getattr(step, name) for name in by)
        seconds[group] = known_sum((seconds.get(group, 0), step.seconds))
    return seconds


def _table(
    title: str,
    by: Sequence[str],
    rows: Iterable[dict[str, Any]],
    seconds: dict[tuple[str, ...], float | None],
) -> FittedTable:
    """Return a table of sums. `seconds` has the time of rows by their first columns; it stands in the first of them."""
    from memflow.resources.ledger.usage import cost_text

    shown: list[list[Any]] = []
    left = dict(seconds)
    for row in rows:
        names = [row.get(name, "") for name in by]
        times = [left.pop(group) for group in [*left] if list(group) == names[: len(group)]]
        time = duration(times[0]) if times and times[0] is not None else ""
        costs = [cost_text(row["cost"], row["known_cost"]), cost_text(row["most_cost"], 0)]
        shown.append([*names, *(row[name] for name in NUMBERS), time, *costs])
    numbers = ("calls", "retries", "prompt", "answers", "at most", "time", "cost", "cost at most")
    return table((*by, *numbers), shown, title)


def _notes(
    planned: "Forecast", unpriced: Sequence[str], assumptions: Sequence[str]
) -> Iterator[RenderableType]:
    """Yield notes on a forecast: omitted steps, errors, missing data, and assumptions."""
    for domain, left_out in planned.left_out.items():
        yield Text(f"\n{domain} is a sample {left_out}.")
    for name, reason in planned.failing.items():
        advice = "Not all of its requests are forecast. Fix the memory, then repeat the command."
        yield Text(f"\n{name}: {reason}. {advice}", "red")
    if planned.up_to_date:
        yield note(f"\nUp to date: {', '.join(planned.up_to_date)}.")
    for domain, lacking in planned.missing.items():
        yield Text(f"\n{domain} has missing data sets:", "yellow")
        yield from (note(f"  {dataset.name}: {dataset.advice}") for dataset in lacking)
    if unpriced:
        names = ", ".join(unpriced)
        advice = "Set price_in and price_out of the model in memflow.toml."
        yield note(f"\nThe cost is unknown: no price is set or listed for {names}. {advice}")
    yield note("\n  ".join(["\nAssumptions:", *assumptions]))
