"""`export keys`: what is right at each checkpoint of a domain, as a file for others to import (CoMem)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.output import Format, FormatOption, answer, note, table, write
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from resources.settings import Settings

SHOWN = 10


def keys(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="A domain of CoMem.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, such as keys.jsonl.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Write a domain's keys to a file: what is right at each checkpoint, who says so, and on what grounds.

    Questions that were dropped or that failed are left out. Of the dialogues and questions it holds ids and digests
    alone, but grounds may quote them.
    """
    from collections import Counter

    from memflow.benchmarks.comem.annotation.label_file import format_label_file
    from memflow.benchmarks.comem.load import load_contexts
    from resources.lake import Lake

    settings = front_of(ctx).load()
    of = settings.domain(domain)
    if of.benchmark != "comem":
        raise BadInput(f"{domain} is of {of.benchmark}; keys are CoMem's alone")
    lake = Lake(settings.lake_root)
    held = lake.read("question.keys", domain)
    read = set(lake.partitions("raw.records"))
    records = lake.read_all("raw.records", [name for name in of.datasets if name in read])
    made = format_label_file(of, load_contexts(of, records), held, _models(settings))
    if not made.questions:
        why = next(iter(made.left_out.values()), "it has none")
        raise BadInput(f"no key of {domain} can be written: {why}")
    write(file, made.text, force)
    reasons = Counter(made.left_out.values()).most_common()
    answer(
        form,
        {"file": str(file.absolute()), "questions": made.questions, "left_out": dict(made.left_out)},
        note(f"the keys of {made.questions:,} questions of {domain} are in {file}"),
        *(
            [table("\nLeft out", ("questions", "why"), [(n, why) for why, n in reasons[:SHOWN]])]
            if reasons
            else []
        ),
        note(
            "To import them: the same domain with this file as one more data set, and "
            'keys = "imported" (docs/explanation/comem.md)'
        ),
    )


def _models(settings: "Settings") -> dict[str, str]:
    """The settings' models by the fingerprints that keys hold; a scripted one is called so."""
    from memflow.chat.scripted import LABEL, ScriptedChat

    named = {}
    for model in settings.models.values():
        if model.kind == "scripted":
            named[ScriptedChat({}, name=model.fingerprint()).fingerprint] = LABEL
        else:
            named[model.fingerprint()] = model.served_as
    return named
