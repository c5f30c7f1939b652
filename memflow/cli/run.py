"""`memflow run`: materialize what is asked for, and say what came of it.

The walk itself is walk.py, what is seen meanwhile progress.py; what is said at the end, summary.py.
"""

import gc
from typing import Annotated

import typer

from memflow.cli.output import Format, FormatOption, answer
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

COLLECT_AFTER = 100_000
"""Allocations between two garbage collections. Each looks at all that Dagster and a run's rows keep alive: with
Python's default of 700 that is a tenth of a run's CPU time, and memory use is the same."""

CallsOption = Annotated[
    int, typer.Option("--budget-calls", min=0, help="Ask at most so many requests; 0 is no limit.")
]
TokensOption = Annotated[
    int, typer.Option("--budget-tokens", min=0, help="Spend at most so many tokens; 0 is no limit.")
]
CostOption = Annotated[
    float,
    typer.Option("--budget", min=0, help="Spend at most so much, by the models' prices; 0 is no limit."),
]
AgainOption = Annotated[
    bool, typer.Option("--again", help="Run what is up to date as well: a replay from the ledger.")
]


def run(
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
    budget: CostOption = 0.0,
    budget_calls: CallsOption = 0,
    budget_tokens: TokensOption = 0,
    again: AgainOption = False,
    format: FormatOption = Format.text,
) -> None:
    """Play, ask and score, through Dagster: every run is seen in the UI, and what is up to date is left alone.

    An answered request is never asked again, so a run that was stopped goes on where it was.
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
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    # Imported after the selection: a misspelled name is refused without them.
    from memflow.cli.pipeline import Order, walk
    from memflow.cli.progress import ProgressWatcher
    from memflow.cli.summary import Summary
    from resources.limits import Budget

    limits = Budget(calls=budget_calls or None, tokens=budget_tokens or None, cost=budget or None)
    order = Order(selection.domains, selection.assistants, selection.limit, again)
    with ProgressWatcher() as watcher:
        outcome = walk(selection.settings, order, watcher, limits)
    summary = Summary.of(selection, outcome)
    if format is Format.json:
        answer(format, summary.data())
    else:
        answer(format, None, *summary.shown())
    if outcome.failed:
        raise typer.Exit(1)
