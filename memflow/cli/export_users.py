"""`export users`: a domain's users in the format that its benchmark publishes them in."""

from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.output import Format, FormatOption, answer, note, table, write
from memflow.cli.selection import front_of
from memflow.errors import BadInput

DomainArgument = Annotated[str, typer.Argument(metavar="DOMAIN", help="A domain of AMemGym.")]
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Where to write its users.")]


def users(
    ctx: typer.Context,
    domain: DomainArgument,
    file: FileArgument,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Write a domain's users, generated or read, as AMemGym publishes them: for other code, or to read back here.

    Read back, as a data set of your own ([own_datasets.NAME] in memflow.toml), they give the same states, messages and
    questions. What is quarantined is left out, and named.
    """
    from dataclasses import asdict

    from memflow.benchmarks.amemgym.export import export_users
    from memflow.benchmarks.api import States
    from resources.lake import Lake

    settings = front_of(ctx).load()
    of = settings.domain(domain)
    if of.benchmark != "amemgym":
        raise BadInput(
            f"{domain} is of {of.benchmark}; users are written in a published format for AMemGym alone"
        )
    lake = Lake(settings.lake_root)
    states = States(*(lake.read(f"state.{name}", domain) for name in ("profiles", "variables", "changes")))
    exported = export_users(
        states, lake.read("utterance.turns", domain), lake.read("question.probes", domain)
    )
    if not exported.users:
        why = exported.left_out[0].reason if exported.left_out else "it has none"
        raise BadInput(f"no user of {domain} can be written: {why}")
    write(file, exported.text, force)
    counts = {
        "users": len(exported.users),
        "periods": sum(len(user["periods"]) for user in exported.users),
        "sessions": sum(len(period["sessions"]) for user in exported.users for period in user["periods"]),
        "questions": sum(len(user["qas"]) for user in exported.users),
        "options": sum(len(asked["answer_choices"]) for user in exported.users for asked in user["qas"]),
    }
    lost = [(each.user_id, each.question or "the whole user", each.reason) for each in exported.left_out]
    answer(
        form,
        {
            "file": str(file.absolute()),
            **counts,
            "left_out": [asdict(each) for each in exported.left_out],
        },
        table(f"{file} is written", tuple(counts), [tuple(counts.values())], right=tuple(counts)),
        *([table("\nLeft out", ("user", "what", "why"), lost)] if lost else []),
        note(
            "\nAs published, every period holds the changes of the whole run (update_cnts): show them to no agent."
        ),
    )
