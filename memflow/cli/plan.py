"""`plan`: calls, tokens, time and cost by stage, before anything is spent.

What a run would do is forecast.py; here it is priced, summed and shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, cell, duration, note, table
from memflow.cli.selection import (
    AnnotatorOption,
    AssistantOption,
    BoundsOption,
    DemoOption,
    DomainOption,
    JudgeOption,
    LimitOption,
    MemoryOption,
    ModelOption,
    SimulatorOption,
    UrlOption,
    VerifierOption,
    select,
)
from memflow.records import TABLES

if TYPE_CHECKING:
    from memflow.cli.forecast import Forecast
    from memflow.run.dry_run import Act
    from resources.settings import Settings

LatencyOption = Annotated[
    float, typer.Option("--latency", min=0.0, help="Seconds that a request is taken to need: an assumption.")
]
AgainOption = Annotated[bool, typer.Option("--again", help="As for run: count what is up to date as well.")]
STAGES = tuple(dict.fromkeys(table.partition(".")[0] for table in TABLES))
NUMBERS = ("calls", "prompt_tokens", "completion_tokens", "most_tokens")


def plan(
    ctx: typer.Context,
    domain: DomainOption = None,
    memory: MemoryOption = None,
    assistant: AssistantOption = None,
    limit: LimitOption = 0,
    bounds: BoundsOption = True,
    demo: DemoOption = False,
    url: UrlOption = None,
    model: ModelOption = None,
    simulator: SimulatorOption = None,
    judge: JudgeOption = None,
    annotator: AnnotatorOption = None,
    verifier: VerifierOption = None,
    latency: LatencyOption = 1.0,
    again: AgainOption = False,
    form: FormatOption = Format.text,
) -> None:
    """Say what a run would ask of the models, by stage: calls, tokens, time and cost.

    Nothing is asked of them: the chain is rehearsed in memory with the scripted chat. Answers are taken to be
    as long as the scripted chat's; `at most` is what their limits allow.
    """
    selection = select(
        ctx,
        domains=domain,
        memories=memory,
        assistants=assistant,
        limit=limit,
        bounds=bounds,
        demo=demo,
        url=url,
        model=model,
        simulator=simulator,
        judge=judge,
        annotator=annotator,
        verifier=verifier,
    )
    # Imported after the selection: a misspelled name is refused without it.
    from memflow.cli.forecast import forecast

    made = forecast(selection, latency, again)
    settings = selection.settings
    stages = _totals(made.acts, settings, ("stage", "role", "model"))
    assistants = _totals([act for act in made.acts if act.assistant], settings, ("domain", "assistant"))
    seconds = sum(act.seconds for act in made.acts)
    total = {name: sum(row[name] for row in stages) for name in (*NUMBERS, "cost", "most_cost")}
    answer(
        form,
        {
            "stages": stages,
            "seconds_by_stage": {act.stage: _seconds(made.acts, stage=act.stage) for act in made.acts},
            "assistants": assistants,
            "acts": [asdict(act) for act in made.acts],
            "total": {**total, "seconds": seconds},
            "up_to_date": made.up_to_date,
            "annotated": {name: asdict(each) for name, each in made.annotated.items()},
            "missing": {name: [each.name for each in lacking] for name, lacking in made.missing.items()},
            "assumptions": _assumptions(made, settings, latency),
        },
        *_shown(made, stages, assistants, total, settings, latency),
    )


def _totals(acts: Iterable["Act"], settings: "Settings", by: Sequence[str]) -> list[dict[str, Any]]:
    """Calls, tokens and costs, summed by attributes of acts and their tallies, in the order of the walk."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for act in sorted(acts, key=lambda act: STAGES.index(act.stage)) if "stage" in by else acts:
        for tally in act.tallies:
            names = tuple(getattr(tally if hasattr(tally, name) else act, name) for name in by)
            zeros = dict.fromkeys((*NUMBERS, "cost", "most_cost"), 0)
            row = rows.setdefault(names, {**dict(zip(by, names, strict=True)), **zeros})
            model = settings.model(tally.model)
            for name in NUMBERS:
                row[name] += getattr(tally, name)
            paid = tally.prompt_tokens * model.price_in
            row["cost"] += (paid + tally.completion_tokens * model.price_out) / 1e6
            row["most_cost"] += (paid + tally.most_tokens * model.price_out) / 1e6
    return list(rows.values())


def _seconds(acts: Iterable["Act"], **where: str) -> float:
    return sum(
        act.seconds for act in acts if all(getattr(act, name) == value for name, value in where.items())
    )


def _assumptions(made: "Forecast", settings: "Settings", latency: float) -> list[str]:
    playing = dict.fromkeys([*(name for _, name in settings.roles)])
    at_once = ", ".join(f"{name} {settings.model(name).concurrency}" for name in playing)
    return [
        f"a request takes {latency:g} s (--latency), with so many at once: {at_once}",
        "answers are as long as the scripted chat's; `at most` is the sum of their limits",
        "no request has to be asked again, and none is in the ledger already",
        "the embedder is ours: what an embedding endpoint would be asked is not counted",
        *(["of annotated questions as many are kept as by the scripted chat"] if made.annotated else []),
    ]


def _shown(
    made: "Forecast",
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
        seconds = duration(_seconds(made.acts, stage=row["stage"])) if first else ""
        rows.append([row["stage"], row["role"], row["model"], *_numbers(row, seconds)])
    rows.append(["total", "", "", *_numbers(total, duration(sum(act.seconds for act in made.acts)))])
    by_assistant = [
        [
            row["domain"],
            row["assistant"],
            *_numbers(row, duration(_seconds(made.acts, domain=row["domain"], assistant=row["assistant"]))),
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
    for domain, each in made.annotated.items():
        keys = each.questions * each.checkpoints
        shown.append(
            Text(
                f"\n{domain}: {each.questions:,} questions x {each.checkpoints} checkpoints = {keys:,} keys, each of"
                " annotator and verifier; the same part of a dialogue is asked about once."
            )
        )
    if made.up_to_date:
        shown.append(note(f"\nUp to date, and left alone: {', '.join(made.up_to_date)}."))
    for domain, lacking in made.missing.items():
        shown.append(Text(f"\n{domain} is not whole; it lacks:", "yellow"))
        shown += [note(f"  {each.name}: {each.how}") for each in lacking]
    if not total["cost"]:
        shown.append(
            note("\nNo model here has a price (price_in and price_out in memflow.toml), so cost is 0.")
        )
    shown.append(note("\nAssumed:"))
    shown += [note(f"  {line}") for line in _assumptions(made, settings, latency)]
    return shown


def _numbers(row: dict[str, Any], seconds: str) -> list[str]:
    tokens = [cell(row[name]) for name in NUMBERS]
    return [*tokens, seconds, f"{row['cost']:,.2f}", f"{row['most_cost']:,.2f}"]
