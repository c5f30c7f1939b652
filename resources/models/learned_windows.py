"""Learning the context windows of the models of a run, before its partitions are planned."""

from collections.abc import Iterable

from memflow.errors import ChatError
from memflow.resources.endpoints.addresses import display_address
from memflow.resources.endpoints.windows import learned_window, record_window, served_models, window_of
from memflow.resources.settings.settings import Settings

PATIENCE = 5.0
"""Seconds until a server must have sent its list of models."""


def learn_windows(settings: Settings, assistants: Iterable[str]) -> list[str]:
    """Record the context windows that the servers of these assistants' models state.

    Return sentences for the user: new and changed windows, and unknown ones that leave a memory without a limit.
    A model whose profile has a `window` is not looked up. For a server that does not answer, the record stays as it
    is. So a run neither fails nor becomes stale because a server is down.
    """
    by_model: dict[str, list[str]] = {}
    for assistant in assistants:
        by_model.setdefault(settings.model_of(assistant), []).append(assistant)
    sentences = []
    for name, named in by_model.items():
        model = settings.model(name)
        own = settings.models[name].profile.window
        if model.kind != "endpoint" or own is not None:
            continue
        try:
            served = served_models(model.url, model.key_variable, model.profile, PATIENCE)
        except ChatError:
            continue
        window = window_of(model.model, served)
        before = learned_window(settings.home, model.url, model.model)
        address = display_address(model.url)
        if window is not None and record_window(settings.home, model.url, model.model, window):
            change = f" It was {before:,}: what depends on it is rerun." if before else ""
            sentences.append(f"the context window of {name} has {window:,} tokens, says {address}.{change}")
        uncut = [user for user in named if settings.memory_of(user).system.memory.uses_window]
        if window is None and before is None and uncut:
            sentences.append(
                f"{address} states no context window of {name}, so these memories drop nothing: "
                f"{', '.join(uncut)}. If their prompts may be too long, set `window` below [models.{name}.profile] in "
                "memflow.toml."
            )
    return sentences
