"""`memflow finetune`: train an adapter on the answers that a domain's users liked or copied.

The benchmark selects the answers (`AdapterTraining.training_set`); resources/training/trainer.py trains.
"""

import re
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, heading, message, note, table
from memflow.errors import BadInput, BadSettings

if TYPE_CHECKING:
    from memflow.benchmarks.training import Lora, TrainingSet
    from memflow.resources.settings.settings import Settings
    from memflow.resources.training.adapter import Manifest
    from memflow.resources.training.trainer import Job

_HOW = "How it is trained"
OWN = ("kind", "model", "url", "revision", "adapter")
"""Settings that an adapter does not share with its base model."""


Action = StrEnum("Action", ("like", "copy"))


def finetune(
    ctx: typer.Context,
    domain: Annotated[
        str,
        typer.Argument(metavar="DOMAIN", help="A domain with feedback whose users like and copy answers."),
    ],
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="The model of memflow.toml that is trained.")
    ],
    action: Annotated[
        Action, typer.Option(help="Learn first answers that were liked, or copied.")
    ] = Action.like,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to. [adapters/DOMAIN_ACTION_NAME in the home]"),
    ] = None,
    rank: Annotated[int, typer.Option(min=1, max=512, rich_help_panel=_HOW)] = 8,
    alpha: Annotated[int, typer.Option(min=1, max=4096, rich_help_panel=_HOW)] = 32,
    dropout: Annotated[float, typer.Option(min=0, max=0.99, rich_help_panel=_HOW)] = 0.05,
    learning_rate: Annotated[float, typer.Option(min=0, max=1, rich_help_panel=_HOW)] = 1e-4,
    epochs: Annotated[int, typer.Option(min=1, max=1000, rich_help_panel=_HOW)] = 5,
    batch: Annotated[int, typer.Option(min=1, max=1024, help="Examples a step.", rich_help_panel=_HOW)] = 4,
    length: Annotated[
        int,
        typer.Option(
            min=16, max=1_048_576, help="Tokens of an example; the rest is cut off.", rich_help_panel=_HOW
        ),
    ] = 8192,
    targets: Annotated[
        str, typer.Option(help="The modules that are adapted, comma-separated.", rich_help_panel=_HOW)
    ] = "all-linear",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, rich_help_panel=_HOW)] = 42,
    force: Annotated[bool, typer.Option("--force", help="Train over another adapter that is there.")] = False,
    count: Annotated[
        bool, typer.Option("--count", help="Say what would be learned, and train nothing.")
    ] = False,
    form: FormatOption = Format.text,
) -> None:
    """Train a LoRA adapter on the first answers that a domain's users liked or copied (SFT).

    The adapter can be used like any other model: none@NAME is an assistant without a memory that answers with the
    adapter. Training runs in a separate environment ([training] in memflow.toml).
    """
    from memflow.benchmarks import registry
    from memflow.benchmarks.capabilities import AdapterTraining
    from memflow.benchmarks.training import Lora
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.prompt_folders import activate_prompts

    settings = front_of(ctx).load()
    activate_prompts(settings)
    of = settings.domain(domain)
    lake = Lake(settings.lake_root)
    benchmark = registry.benchmark(of.benchmark)
    if not isinstance(benchmark, AdapterTraining) or action.value not in benchmark.training_actions:
        raise BadInput(
            f"{domain} belongs to {of.benchmark}, whose users never {action.value} an answer. Choose "
            "another domain or --action."
        )
    rows, probes = lake.read("feedback.sessions", domain), lake.read("question.probes", domain)
    learned = benchmark.training_set(rows, probes, action.value)
    if count:
        answer(form, _counted(learned), *_shown(learned))
        return
    if not learned.examples:
        raise BadInput(
            f"{domain} has no training example: of its {sum(learned.first_answers.values())} usable "
            f"first answers, none has a {action.value}. List the reasons with --count, or run more cases."
        )
    how = Lora(rank, alpha, dropout, learning_rate, epochs, batch, length, targets, seed)
    place = (out or settings.home / "adapters" / f"{domain}_{action}_{model}").expanduser().absolute()
    manifest = _train(settings, _job(settings, domain, model, learned, how), place, force)
    trained = manifest.trained
    lines = _lines(settings, model, place, manifest)
    notes = {
        f"{len(trained.too_long)} requests fill the length and were left out.": trained.too_long,
        f"{len(trained.cut_short)} answers were cut short at the length.": trained.cut_short,
        "The answers are of the scripted chat, which is not a language model.": manifest.scripted,
    }
    answer(
        form,
        {"folder": str(place), "lines": lines, **_counted(learned), **manifest.model_dump()},
        *_shown(learned),
        heading("Trained"),
        Text(
            f"{trained.steps:,} steps in {trained.seconds:,.0f} s on {trained.device}; loss {trained.first_loss:.4f}, "
            f"at the end {trained.last_loss:.4f}; {trained.trained_parameters:,} parameters, in {place}"
        ),
        *(Text(text, style="yellow") for text, holds in notes.items() if holds),
        heading("In memflow.toml"),
        Text("\n".join(lines)),
        heading("Then"),
        Text(f"memflow run --domain {domain} --assistant none@{_name(place)}"),
        note("\nSeveral adapters can share one server: docs/how-to/model.md."),
    )


def _job(settings: "Settings", domain: str, model: str, learned: "TrainingSet", how: "Lora") -> "Job":
    from memflow.resources.training.trainer import Job

    base = settings.model(model)
    if base.kind == "scripted" or base.adapter:
        raise BadSettings(
            f"the model {model} has no weights that can be trained (it is scripted or an adapter). "
            "Choose another model of memflow.toml."
        )
    backbone = settings.roles.backbone
    return Job(
        examples=[example.written() for example in learned.examples],
        base=base.model,
        base_revision=base.revision,
        parameters=asdict(how),
        made_of={
            "domain": domain,
            "action": learned.action,
            "backbone": backbone,
            "scripted": settings.model(backbone).kind == "scripted",
            "cases": [example.case_id for example in learned.examples],
            "data": learned.content_hash,
        },
    )


def _train(settings: "Settings", job: "Job", place: Path, force: bool) -> "Manifest":
    """Return the manifest of the adapter in the folder `place`; train the adapter if the folder has none."""
    from memflow.resources.training.adapter import MANIFEST, input_fingerprint, read_manifest
    from memflow.resources.training.trainer import Trainer

    if (place / MANIFEST).is_file():
        present = read_manifest(place)
        wanted = input_fingerprint(job.made_of["data"], job.base, job.base_revision, dict(job.parameters))
        if present.input_fingerprint == wanted:
            message(f"{place} already contains an adapter trained with these inputs")
            return present
        if not force:
            raise BadInput(
                f"{place} contains an adapter trained with other data, another base model or other parameters. "
                "Choose another folder with --out, or replace the adapter with --force."
            )
    if not settings.training.python:
        raise BadSettings(
            "no Python for training is set. Set `python` under [training] in memflow.toml to the "
            "Python of an environment that has memflow's extra `sft` (docs/how-to/model.md)."
        )
    message(f"{len(job.made_of['cases'])} examples: training {job.base}")

    def watch(step: int, of: int, loss: float) -> None:
        message(f"step {step:,} of {of:,}: loss {loss:.4f}")

    return Trainer(settings.training.python).train(job, place, watch, over=force)


def _name(place: Path) -> str:
    """Return a model name for memflow.toml, derived from the name of the adapter's folder."""
    return re.sub(r"[^a-z0-9]", "_", place.name.lower())


def _lines(settings: "Settings", model: str, place: Path, manifest: "Manifest") -> list[str]:
    """Return the memflow.toml lines that declare the adapter as a model with the settings of its base model."""
    from memflow.resources.endpoints.profiles import profile_lines, toml_value

    base = settings.model(model)
    own = {"kind": "vllm", "model": manifest.base, "adapter": str(place), "revision": manifest.revision}
    shared = {
        name: getattr(base, name) for name in sorted(base.model_fields_set - {*OWN, "preset", "profile"})
    }
    written = [f"{name} = {toml_value(value)}" for name, value in {**own, **shared}.items()]
    section = f"models.{_name(place)}"
    return [f"[{section}]", *written, *profile_lines(section, base.profile, base.preset)]


def _counted(learned: "TrainingSet") -> dict[str, Any]:
    columns = ("dataset", "first_answers", "examples", "left_out")
    return {
        "action": learned.action,
        "counts": [dict(zip(columns, row, strict=True)) for row in learned.counts()],
        "left_out": [asdict(case) for case in learned.excluded],
    }


def _shown(learned: "TrainingSet") -> list[RenderableType]:
    columns = ("data set", "first answers", "examples", "left out")
    title = f"First answers with a {learned.action}"
    lost = [(case.case_id, case.reason) for case in learned.excluded]
    return [
        table(title, columns, learned.counts(), right=columns[1:]),
        *([table("\nLeft out", ("case", "why"), lost)] if lost else []),
    ]
