"""`memflow memories serve`: serve a memory by the contract of a leaderboard."""

import os
from enum import Enum
from typing import Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.options import ANY_NAME, argument, option
from memflow.errors import BadSettings
from memflow.operations.import_paths import with_own_memories
from memflow.operations.memory_checks import serve_memory
from memflow.operations.messages import message


class Contract(Enum):
    """The contracts by which a memory is served."""

    aml = "aml"


def serve(
    ctx: typer.Context,
    memory: Annotated[str, argument("MEMORY", f"A memory: its name, {ANY_NAME}.")],
    contract: Annotated[
        Contract, option("--contract", "aml: Add and Search of agentmemoryleaderboard.ai.", metavar="aml")
    ] = Contract.aml,
    port: Annotated[
        int, option("--port", "The port on 127.0.0.1; 0 chooses a free one.", metavar="N")
    ] = 9100,
    key_variable: Annotated[
        str | None,
        option("--key-variable", "The environment variable with the key that requests need.", metavar="NAME"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        option(
            "--allow-host",
            "A further host name of requests, such as that of a proxy; needs a key. Repeatable.",
            metavar="HOST",
        ),
    ] = None,
) -> None:
    """Serve a memory over HTTP, until Ctrl-C. Its sessions are kept in the home, and found again after a restart.

    The memory uses the models of the settings. `memflow run --memory aml:http://127.0.0.1:9100` reaches it.
    """
    key = os.environ.get(key_variable, "") if key_variable else ""
    if key_variable and not key:
        raise BadSettings(
            f"the environment variable {key_variable} is not set. Set it, or remove --key-variable."
        )
    if allow_host and not key:
        raise BadSettings("--allow-host lets others reach the memory, so it needs a key. Add --key-variable.")
    settings, [name] = with_own_memories(front_of(ctx), [memory])
    ready = f"memflow: {name} is served by the contract {contract.value} at {{}} (press Ctrl-C to stop)"
    serve_memory(settings, name, port, key, allow_host or (), lambda url: message(ready.format(url)))
