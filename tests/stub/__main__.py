"""The command `python -m stub`: run a stub server until interrupted, and print its URL first."""

import argparse
import asyncio
from dataclasses import fields

import uvloop

import stub as package
from stub.behavior import StubBehavior
from stub.server import Stub


def main() -> None:
    """Run the stub server until interrupted, and print its URL first."""
    parser = argparse.ArgumentParser(
        description=package.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for one in fields(StubBehavior):
        flag = f"--{one.name.replace('_', '-')}"
        kind = type(one.default)
        parser.add_argument(flag, type=kind, default=one.default, help=one.metadata["help"])
    behavior = StubBehavior(**vars(parser.parse_args()))

    async def serve() -> None:
        async with Stub(behavior) as stub:
            print(stub.url, flush=True)
            await asyncio.Event().wait()

    try:
        uvloop.run(serve())
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
