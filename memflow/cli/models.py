"""`memflow models`: the models of the settings with roles, profiles and prices, and the check of a model's endpoint."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.lazy_commands import App
from memflow.cli.options import argument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput, ChatError
from memflow.operations.findings import PATIENCE
from memflow.operations.messages import message
from memflow.rendering.tables import Text, table_of
from memflow.rendering.texts import heading, note

if TYPE_CHECKING:
    from memflow.resources.endpoints.model_check import Observation
    from memflow.resources.settings.chat_models import Model
    from memflow.resources.settings.settings import Settings

models = App(invoke_without_command=True)
COLUMNS = {
    **{name: name for name in ("model", "served as", "address", "roles", "preset", "changed fields")},
    "prices": lambda row: (
        f"{row['price_in']:g} / {row['price_out']:g}" if row["price_in"] or row["price_out"] else ""
    ),
}


@models.callback()
def list_models(ctx: typer.Context, form: FormatOption = Format.table) -> None:
    """List the models of the settings: addresses, roles, profiles and prices.

    `check` sends requests to one model.
    """
    if ctx.invoked_subcommand is not None:
        return
    from memflow.resources.endpoints.hosted_models import hosted_models

    settings = front_of(ctx).load()
    rows = [_row(settings, name, model) for name, model in settings.models.items()]
    print_result(
        form,
        rows,
        table_of(rows, COLUMNS, "Models"),
        note(
            "\nPrices are per million tokens of prompts and of answers. [models.NAME] in memflow.toml adds a model.\n"
            "`--model` also takes these hosted models, with the provider's key in the environment: "
            f"{', '.join(hosted_models())}.\n"
            "`memflow models check NAME` sends small requests to an endpoint, and prints the profile that fits."
        ),
    )


def _row(settings: "Settings", name: str, model: "Model") -> dict[str, Any]:
    from memflow.resources.endpoints.profiles import changed_fields

    roles = [role for role, chosen in settings.roles.assigned() if chosen == name]
    roles += [f"judge of {domain}" for domain in settings.judges if name in settings.judges_of(domain)]
    roles += [assistant for assistant in settings.assistants if assistant.endswith(f"@{name}")]
    scripted = model.kind == "scripted"
    prices = settings.prices_of(name)
    return {
        "model": name,
        "served as": "" if scripted else model.model,
        "address": model.url or ("no model" if scripted else "started by memflow"),
        "roles": roles,
        "preset": "" if scripted else model.preset,
        "changed fields": sorted(changed_fields(model.profile, model.preset)),
        "price_in": prices and prices.prompt,
        "price_out": prices and prices.completion,
        "profile": {} if scripted else model.profile.model_dump(mode="json", exclude_defaults=True),
    }


def _observe_window(settings: "Settings", model: "Model") -> "Observation":
    """Return the window that the server of a model states, and record it; else the setting that states it."""
    from memflow.resources.endpoints.model_check import Observation
    from memflow.resources.endpoints.windows import record_window, served_models, window_of

    try:
        served = served_models(model.url, model.key_variable, model.profile, PATIENCE)
        window = window_of(model.model, served)
    except ChatError:
        window = None
    if window is None:
        unknown = "not stated by the server. Set `window` of the profile, or the first refusal may state it"
        return Observation("context window", unknown)
    record_window(settings.home, model.url, model.model, window)
    own = model.profile.window
    priority = "" if own is None else f"; the setting `window = {own}` has priority"
    return Observation("context window", f"{window:,} tokens{priority}")


@models.command()
def check(
    ctx: typer.Context,
    name: Annotated[str, argument("NAME", "A model of memflow.toml.")],
    form: FormatOption = Format.table,
) -> None:
    """Send about ten small requests to a model, list what it accepts, and print matching settings.

    No setting changes. The context window that the server states is recorded in the home. The requests cost some
    thousand tokens at most.
    """
    from memflow.resources.endpoints.model_check import ModelCheck, propose, requests_to

    settings = front_of(ctx).load()
    settings.model(name)  # with the known names, if it is none
    model = settings.models[name]
    if model.kind != "endpoint":
        raise BadInput(f'the model {name} has no address to check. Choose a model with kind = "endpoint".')
    message(f"memflow: about ten requests to {model.model} at {model.url}; a slow model takes minutes.")
    made = ModelCheck(model.model, requests_to(model), model.profile)

    async def observe() -> "list[Observation]":
        observations = []
        async for seen in made.run():
            message(f"memflow: {seen.topic}: {seen.seen}")
            observations.append(seen)
        return observations

    observations = [*asyncio.run(observe()), _observe_window(settings, model)]
    proposal = propose(observations, model.url, model.preset)
    fits = proposal.profile() == model.profile
    seen = [{"topic": observation.topic, "seen": observation.seen} for observation in observations]
    print_result(
        form,
        {
            "model": name,
            "requests": made.requests,
            "observations": seen,
            "address": model.url,
            "preset": proposal.preset,
            "fields": dict(proposal.fields),
            "fits": fits,
        },
        table_of(seen, title=f"{model.model} at {model.url}"),
        heading("The settings fit" if fits else "Settings that fit"),
        Text(proposal.toml(name)),
        note(
            f"\n{made.requests} requests. A changed profile changes the model's fingerprint: its partitions run again."
        ),
        rows=seen,
    )
