"""Single-bit flips of a ledger file: no flip is read silently, and `memflow ledger recover` rescues the other rows.

    python -m bench.ledger_flips --flips 300

A ledger of completions, failures and vectors is copied, one bit is flipped at a random position of the SQLite file or
of its write-ahead log, and everything is read: lookups, messages, vectors and usage. Each flip has one result:

* `unused`: everything that is read equals the original, and verification finds nothing.
* `damaged row`: the lookups of one or several rows fail; the others are equal.
* `damaged file`: the ledger cannot be used, and one sentence names the file and the next step.
* `request sent again`: a stored completion is not found, so its request would be sent again.
* `found by verification`: the usage differs, and verification reports it.
* `log cut`: the write-ahead log is valid up to a commit before the last ones, as after a power cut.
* `silent`: another value is read, and nothing reports it. Bound: none.

After each flip with an error the ledger is recovered; `lost` counts completions that are then missing or differ. Bound:
one per flip of the file.
"""

import asyncio
import random
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from resources.ledger.recovery import recover
from resources.ledger.verification import problems

from bench.measure import arguments, report, request_context
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.errors import DamagedRow, MemflowError, NoAnswer
from memflow.fingerprint import digest
from resources.endpoints.embedder import TimedVector
from resources.files.sqlite_urls import sqlite_url
from resources.ledger.sql_ledger import SqlLedger
from resources.ledger.usage import GROUPS

ROWS = 60
ACCOUNT = request_context("bench", "bench", "answer")


@dataclass
class Contents:
    """What a ledger returns: completions, messages, vectors, usage and failures. An error stands for a damaged row."""

    completions: dict[str, object]
    messages: dict[str, object]
    vectors: dict[str, object]
    usage: object


def fill(url: str, rows: int = ROWS, seed: int = 0) -> list[str]:
    """Write a ledger with answers of 1 to 4 KB, failures and vectors. Return the digests."""
    chance = random.Random(seed)
    digests = [digest("bench", number) for number in range(rows)]
    with SqlLedger(url) as ledger:

        async def put() -> None:
            for start in range(0, rows, 10):
                await asyncio.gather(*(store(each) for each in digests[start : start + 10]))

        async def store(each: str) -> None:
            text = "".join(chance.choices("abcdefghij klmnop üß", k=chance.randrange(1000, 4000)))
            await ledger.put(Completion(text, "stop", 100, 50, 20, 0.5, each), request(each), ACCOUNT)
            ledger.used(Completion(text, "stop", 100, 50, 20, 0.5, each), request(each), ACCOUNT)

        asyncio.run(put())
        ledger.failed(request("failed"), ACCOUNT, NoAnswer("nothing", "blank"))
        vectors = {each: TimedVector(np.asarray([chance.random()] * 64, "<f4"), 0.25) for each in digests}
        ledger.keep_vectors(vectors)
    return digests


def request(text: str) -> ChatRequest:
    """Return a request whose messages contain `text`."""
    messages = (ChatMessage("system", "Answer."), ChatMessage("user", f"{text} " * 100))
    return ChatRequest("bench/flips", {}, messages, Sampling(max_tokens=64))


def read(url: str, digests: list[str]) -> Contents:
    """Return everything that a ledger returns. Raises MemflowError if the ledger cannot be used."""
    with SqlLedger(url) as ledger:

        async def find(each: str) -> object:
            try:
                return await ledger.get(each)
            except DamagedRow as error:
                return error

        async def find_all() -> list[object]:
            return await asyncio.gather(*map(find, digests))

        found = dict(zip(digests, asyncio.run(find_all()), strict=True))
        messages: dict[str, object] = {}
        vectors: dict[str, object] = {}
        for each in digests:
            try:
                messages[each] = ledger.messages(each)
            except (DamagedRow, KeyError) as error:
                messages[each] = error
            try:
                vector = ledger.vectors([each]).get(each)
                vectors[each] = None if vector is None else (vector.vector.tobytes(), vector.seconds)
            except DamagedRow as error:
                vectors[each] = error
        usage = ledger.usage(GROUPS), ledger.needed(GROUPS, "bench"), ledger.unfinished("bench", "answer")
        return Contents(found, messages, vectors, usage)


def examine(url: str, original: Contents, digests: list[str], of_log: bool) -> str:
    """Return the result of a flip: see the module's docstring."""
    try:
        now = read(url, digests)
    except MemflowError as error:
        return "damaged file" if is_helpful(str(error)) else f"silent: no advice in {error}"
    except Exception as error:  # noqa: BLE001  (an exception that is no sentence counts as a fault)
        return f"silent: {type(error).__name__}: {error}"
    result = compare(original, now, digests)
    if result == "unused" and has_problems(url):
        return "found by verification"
    if result == "unused" and now.usage != original.usage:
        result = "silent: usage"
    return "log cut" if of_log and result in ("silent: usage", "request sent again") else result


def compare(original: Contents, now: Contents, digests: list[str]) -> str:
    """Return the result of a flip whose rows can be read."""
    kinds = ("completions", "messages", "vectors")
    pairs = [(getattr(original, kind)[each], getattr(now, kind)[each]) for kind in kinds for each in digests]
    different = [after for before, after in pairs if before != after]
    wrong = [each for each in different if each is not None and not isinstance(each, DamagedRow | KeyError)]
    if wrong:
        return f"silent: {str(wrong[0])[:80]}"
    if any(isinstance(each, DamagedRow) for each in different):
        return "damaged row"
    return "request sent again" if different else "unused"


def has_problems(url: str) -> bool:
    """Return whether the verification of a ledger reports a problem."""
    try:
        with SqlLedger(url) as ledger, ledger.connect(transaction=True) as connection:
            return bool(problems(connection))
    except MemflowError:
        return True


def is_helpful(sentence: str) -> bool:
    """Return whether a message names a next step and is no traceback."""
    return "\n" not in sentence and any(word in sentence for word in ("recover", "Restore", "repair"))


def flip(path: Path, position: int) -> None:
    """Flip one bit of a file."""
    with path.open("r+b") as file:
        file.seek(position // 8)
        (byte,) = file.read(1)
        file.seek(position // 8)
        file.write(bytes([byte ^ 1 << position % 8]))


def lost_after_recovery(url: str, original: Contents, digests: list[str]) -> int:
    """Recover a ledger. Return the number of completions that are missing or differ afterwards."""
    recover(url)
    now = read(url, digests)
    if any(isinstance(each, DamagedRow) for each in now.completions.values()):
        raise SystemExit("a recovered ledger has a damaged row. Fix resources/ledger/recovery.py.")
    return sum(now.completions[each] != original.completions[each] for each in digests)


def drill(flips: int, seed: int = 0, rows: int = ROWS) -> tuple[Counter[str], Counter[int]]:
    """Flip bits of copies of a ledger. Return the number of flips by result, and by completions lost after recovery."""
    chance = random.Random(seed)
    results: Counter[str] = Counter()
    lost: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        source, work = Path(folder) / "source", Path(folder) / "work"
        source.mkdir()
        digests = fill(sqlite_url(source / "ledger.sqlite"), rows)
        original = read(sqlite_url(source / "ledger.sqlite"), digests)
        for number in range(flips):
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(source, work)
            target = work / "ledger.sqlite"
            # Half of the flips hit the first pages: header, schema and roots of the trees.
            size = target.stat().st_size if number % 2 else min(target.stat().st_size, 16 * 4096)
            flip(target, chance.randrange(size * 8))
            result = examine(sqlite_url(target), original, digests, of_log=False)
            results[result] += 1
            if result != "unused":
                lost[lost_after_recovery(sqlite_url(target), original, digests)] += 1
    return results, lost


def main() -> int:
    """Flip bits. Return 1 if a flip is read silently or costs more than one completion."""
    options = arguments(flips=300, seed=0)
    results, lost = drill(options.flips, options.seed)
    silent = sum(number for result, number in results.items() if result.startswith("silent"))
    report(
        {"name": "ledger_flips", "value": silent, "unit": "silent"},
        flips=options.flips,
        results=dict(results),
        lost_after_recovery={str(number): times for number, times in sorted(lost.items())},
    )
    return int(silent > 0 or max(lost, default=0) > 1)


if __name__ == "__main__":
    sys.exit(main())
