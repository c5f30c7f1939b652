"""The options of `memflow run` and `memflow plan` that select domains and assistants."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from memflow.cli import options
from memflow.cli.options import front_of
from memflow.operations.messages import message
from memflow.operations.selection import Selection, select

__all__ = ["Selection", "with_selection"]


def selection_options(
    paper: options.PaperOption = None,
    domains: options.DomainOption = None,
    memories: options.MemoryOption = None,
    assistants: options.AssistantOption = None,
    limit: options.LimitOption = 0,
    baselines: options.BaselinesOption = True,
    repeats: options.RepeatsOption = None,
    demo: options.DemoOption = False,
    url: options.UrlOption = None,
    model: options.ModelOption = None,
    judge: options.JudgeOption = None,
    uncalibrated: options.UncalibratedOption = False,
    embedder: options.EmbedderOption = None,
    embedder_url: options.EmbedderUrlOption = None,
    embedder_preset: options.EmbedderPresetOption = None,
    preset: options.PresetOption = None,
    retrieval_only: options.RetrievalOnlyOption = False,
) -> None:
    """Declare the options, which `memflow.operations.selection.select` describes."""


def with_selection(
    command: Callable[..., None], prepare: Callable[[], None] | None = None
) -> Callable[..., None]:
    """Return the command with the options of a selection in place of its parameter `selection`.

    `prepare` is called before the selection, which imports the benchmarks and what they need.
    """
    shared = dict(inspect.signature(selection_options).parameters)
    own = dict(inspect.signature(command).parameters)
    del own["selection"]
    ctx = own.pop("ctx")

    @wraps(command)
    def selecting(ctx: typer.Context, **given: Any) -> None:
        if prepare is not None:
            prepare()
        selection = select(front_of(ctx), **{name: given[name] for name in shared})
        if selection.paper:
            from memflow.operations.papers import paper_plan

            plan = paper_plan(selection.settings, selection.paper, selection.domains, selection.assistants)
            message("\n".join(plan))
        command(
            ctx,
            selection=selection,
            **{name: given[name] for name in own},
        )

    parameters = [ctx, *shared.values(), *own.values()]
    parameters = [each.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in parameters]
    selecting.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    selecting.__annotations__ = {each.name: each.annotation for each in parameters}
    return selecting
