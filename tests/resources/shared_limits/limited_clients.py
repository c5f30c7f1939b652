"""A program of the tests: forks processes that send requests with the limits of a settings file.

Usage: limited_clients.py SETTINGS FOLDER PROCESSES REQUESTS AT_ONCE SECONDS. The program prints the process ids, starts
the processes after a line on standard input, and writes what each sent as FOLDER/NUMBER.json.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from memflow.chat.requests import ChatMessage, ChatRequest
from memflow.errors import BudgetSpent
from resources.ledger.sql_ledger import SqlLedger
from resources.models.clients import Clients
from resources.settings.settings import load
from resources.shared_limits.opening import open_budget
from resources.vllm_servers.servers import VllmServers


async def send(
    settings_file: str, number: int, requests: int, at_once: int, seconds: float
) -> dict[str, int]:
    """Send requests until the budget is spent, the time is over or all are answered. Return how they ended."""
    settings = load(Path(settings_file))
    counts = {"answered": 0, "refused": 0}
    with (
        SqlLedger(settings.ledger_url) as ledger,
        open_budget(settings.budget, settings.ledger_url) as budget,
    ):
        clients = Clients(settings, ledger, VllmServers({}, Path()), budget, {})
        chat = await clients.chat("m")
        left = iter(range(requests))

        async def work() -> None:
            for each in left:
                message = ChatMessage("user", f"request {each} of process {number}")
                try:
                    await chat.complete(ChatRequest("p", {}, (message,)))
                except BudgetSpent:
                    counts["refused"] += 1
                    return
                counts["answered"] += 1

        workers = [asyncio.create_task(work()) for _ in range(at_once)]
        await asyncio.wait(workers, timeout=seconds)
        for worker in workers:
            worker.cancel()
        for result in await asyncio.gather(*workers, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        await clients.close()
    return counts


def main() -> None:
    """Fork the processes and wait for them."""
    settings_file, folder, *numbers = sys.argv[1:]
    processes, requests, at_once, seconds = map(int, numbers)
    children: list[int] = []
    begins, begin = os.pipe()
    for number in range(processes):
        child = os.fork()
        if not child:
            os.close(begin)
            os.read(begins, 1)  # until the parent closes the pipe
            counts = asyncio.run(send(settings_file, number, requests, at_once, seconds))
            Path(folder, f"{number}.json").write_text(json.dumps(counts), encoding="utf-8")
            os._exit(0)
        children.append(child)
    print(json.dumps(children), flush=True)
    sys.stdin.readline()
    os.close(begin)
    codes = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(f"exit codes {codes}" if any(code not in (0, 9) for code in codes) else 0)


if __name__ == "__main__":
    main()
