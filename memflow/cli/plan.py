"""`memflow plan`: a forecast of a run's calls, tokens, time and cost by stage.

forecast.py determines the steps of the run; this module computes prices and sums, and prints them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.memory_servers import memory_server_notes, planned_checks
from memflow.cli.output import Format, FormatOption, Text, answer, cell, duration, note, table
from memflow.cli.selection import Selection, with_selection
from memflow.records import TABLES

if TYPE_CHECKING:
    from memflow.cli.forecast import Forecast
    from memflow.run.dry_run import StepForecast
    from resources.settings.settings import Settings

LatencyOption = Annotated[
    float, typer.Option("--latency", min=0.0, help="Seconds that each request is assumed to take.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="As for run: include partitions that are up to date.")
]
STAGES = tuple(dict.fromkeys(table.partition(".")[0] for table in TABLES))
NUMBERS = ("calls", "prompt_tokens", "completion_tokens", "most_tokens")


@with_selection
def plan(
    ctx: typer.Context,
    selection: Selection,
    latency: LatencyOption = 1.0,
    force: ForceOption = False,
    form: FormatOption = Format.text,
) -> None:
    """Forecast the calls, tokens, time and cost of a run, by stage.

    No model is called: the pipeline runs in memory with the scripted chat. The forecast assumes that answers are as
    long as the scripted chat's answers, and replies in dialogues as long as recorded replies of real models. `at most`
    is the maximum that the limits of the answers allow, which a budget reserves for each request.
    """
    # Imported after the selection, so that a misspelled name fails fast.
    from memflow.cli.forecast import forecast
    from resources.ledger.usage import known_sum

    planned = forecast(selection, latency, force)
    settings = selection.settings
    stages = _totals(planned.steps, settings, ("stage", "role", "model"))
    assistants = _totals(
        [step for step in planned.steps if step.assistant], settings, ("domain", "assistant")
    )
    seconds = sum(step.seconds for step in planned.steps)
    total = {name: known_sum(row[name] for row in stages) for name in (*NUMBERS, "cost", "most_cost")}
    answer(
        form,
        {
            "stages": stages,
            "seconds_by_stage": {
                step.stage: _seconds(planned.steps, stage=step.stage) for step in planned.steps
            },
            "assistants": assistants,
            "steps": [asdict(step) for step in planned.steps],
            "total": {**total, "seconds": seconds},
            "up_to_date": planned.up_to_date,
            "left_out": planned.left_out,
            "failing": planned.failing,
            "annotated": {name: asdict(each) for name, each in planned.annotated.items()},
            "missing": {name: [each.name for each in lacking] for name, lacking in planned.missing.items()},
            "checks": planned_checks(settings, planned.assistants),
            "assumptions": _assumptions(planned, settings, latency),
        },
        *_shown(planned, stages, assistants, total, settings, latency),
    )


def _totals(steps: Iterable["StepForecast"], settings: "Settings", by: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sums of calls, tokens and costs, grouped by the attributes in `by`, in pipeline order.

    A cost is None where a model has no price.
    """
    from resources.ledger.usage import known_sum

    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for step in sorted(steps, key=lambda step: STAGES.index(step.stage)) if "stage" in by else steps:
        for count in step.counts:
            names = tuple(getattr(count if hasattr(count, name) else step, name) for name in by)
            zeros = dict.fromkeys((*NUMBERS, "cost", "most_cost"), 0)
            row = rows.setdefault(names, {**dict(zip(by, names, strict=True)), **zeros})
            model = settings.model(count.model)
            for name in NUMBERS:
                row[name] += getattr(count, name)
            paid = count.prompt_tokens * model.price_in
            answers = {"cost": count.completion_tokens, "most_cost": count.most_tokens}
            for name, tokens in answers.items():
                cost = (paid + tokens * model.price_out) / 1e6 if model.has_price else None
                row[name] = known_sum((row[name], cost))
    return list(rows.values())


def _seconds(steps: Iterable["StepForecast"], **where: str) -> float:
    return sum(
        step.seconds for step in steps if all(getattr(step, name) == value for name, value in where.items())
    )


def _assumptions(planned: "Forecast", settings: "Settings", latency: float) -> list[str]:
    playing = dict.fromkeys([*settings.role_models()])
    at_once = ", ".join(f"{name} {settings.model(name).concurrency}" for name in playing)
    return [
        f"each request takes {latency:g} s (--latency), with this many at once: {at_once}",
        "answers are as long as the scripted chat's, replies in dialogues as long as recorded ones; `at most` is the "
        "sum of their limits, each of which a budget reserves while the request runs",
        "no request is repeated, and none is in the ledger",
        "requests to an embedding endpoint are not counted",
        *memory_server_notes(settings, planned.assistants),
        *(
            f"{name}: check: {writes} planned, before it is played"
            for name, writes in planned_checks(settings, planned.assistants).items()
        ),
        *(["annotators keep as many questions as the scripted chat does"] if planned.annotated else []),
    ]


def _shown(
    planned: "Forecast",
    stages: Sequence[dict[str, Any]],
    assistants: Sequence[dict[str, Any]],
    total: dict[str, Any],
    settings: "Settings",
    latency: float,
) -> list[RenderableType]:
    numbers = ("calls", "prompt", "answers", "at most", "time", "cost", "cost at most")
    rows: list[list[Any]] = []
    for row in stages:
        first = not rows or all(row["stage"] != other[0] for other in rows)
        seconds = duration(_seconds(planned.steps, stage=row["stage"])) if first else ""
        rows.append([row["stage"], row["role"], row["model"], *_numbers(row, seconds)])
    rows.append(["total", "", "", *_numbers(total, duration(sum(step.seconds for step in planned.steps)))])
    by_assistant = [
        [
            row["domain"],
            row["assistant"],
            *_numbers(
                row, duration(_seconds(planned.steps, domain=row["domain"], assistant=row["assistant"]))
            ),
        ]
        for row in assistants
    ]
    shown: list[RenderableType] = [
        table("By stage", ("stage", "role", "model", *numbers), rows, right=numbers)
    ]
    if by_assistant:
        shown += [
            Text(),
            table("By assistant", ("domain", "assistant", *numbers), by_assistant, right=numbers),
        ]
    shown += [Text(f"\n{domain} is a sample {left_out}.") for domain, left_out in planned.left_out.items()]
    for domain, each in planned.annotated.items():
        keys = each.questions * each.checkpoints
        shown.append(
            Text(
                f"\n{domain}: {each.questions:,} questions x {each.checkpoints} checkpoints = {keys:,} labels, each by"
                " annotator and verifier. Identical parts of a dialogue are annotated once."
            )
        )
    shown += [
        Text(
            f"\n{name}: {reason}. Not all of its requests are forecast. Fix the memory, then repeat the command.",
            "red",
        )
        for name, reason in planned.failing.items()
    ]
    if planned.up_to_date:
        shown.append(note(f"\nUp to date: {', '.join(planned.up_to_date)}."))
    for domain, lacking in planned.missing.items():
        shown.append(Text(f"\n{domain} has missing data sets:", "yellow"))
        shown += [note(f"  {each.name}: {each.advice}") for each in lacking]
    if unpriced := dict.fromkeys(row["model"] for row in stages if row["cost"] is None):
        names = ", ".join(unpriced)
        shown.append(
            note(
                f"\nThe cost is unknown: no price is set for {names}. Set price_in and price_out in memflow.toml."
            )
        )
    shown.append(note("\nAssumptions:"))
    shown += [note(f"  {line}") for line in _assumptions(planned, settings, latency)]
    return shown


def _numbers(row: dict[str, Any], seconds: str) -> list[str]:
    tokens = [cell(row[name]) for name in NUMBERS]
    costs = ["unknown" if row[name] is None else f"{row[name]:,.2f}" for name in ("cost", "most_cost")]
    return [*tokens, seconds, *costs]
