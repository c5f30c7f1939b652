"""How often an update of AWI's dictionary loses a fact that was there, with a real model.

Two sets of updates, each with the messages of one round (two messages):

* `constructed`: a label with three facts, of which the user's message changes the first, between two labels that it
  does not concern. A fact is found by the first letters of its last word, anywhere in the dictionary.
* `recorded`: dictionaries and dialogues of AMemGym's published code with a real model, as folders with the files
  in_context_memory_by_period.json and interactions_by_period.json. The dictionary at the end of a period, at most
  LABELS labels of it, is updated with the first round of the next period, each message cut at CHARACTERS. A value that
  is written again has lost facts if fewer than half of the old value's words (three letters and more) are in it. A
  change may rightly remove words, so this compares prompts only.

The last lines need no request: each recorded value beside the next one of its label.

    python -m bench.awi_updates --url URL [--runs FOLDER [--periods N]] [--prompt FILE] [--home FOLDER]

`--prompt` replaces awi/update, such as by a former version of the file. Answers are recorded in the ledger of the home,
so a repetition sends no request. Intervals are Wilson's, 95 %, over updates. The script has no bound.
"""

import argparse
import asyncio
import itertools
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memflow.chat.ledger import RequestContext
from memflow.memories.awi.memory import FACT, Awi
from memflow.memories.entries import EntryStore
from memflow.memories.memory import FAILURE, Message, Tools
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.models import Models
from memflow.resources.settings.prompt_folders import activate_prompts
from memflow.resources.settings.settings import load

LABELS, CHARACTERS, OUTPUT = 6, 400, 512
OTHERS = {"pets": "has a grey cat named Miso", "music": "plays the cello; likes Bach"}
SUBJECTS = """
food | eats vegetarian meals | allergic to peanuts | loves spicy soup | eats fish | From this month on I eat fish.
work | works as a nurse | starts at seven | has a team of nine | works as a teacher | I work as a teacher now.
sport | goes running | trains on Mondays | has a sore knee | goes swimming | Instead of that, I go swimming now.
home | lives in Leeds | shares with a brother | pays a rent of 700 | lives in Dublin | I have moved to Dublin.
travel | plans a trip to Norway | prefers trains | fears heights | plans a trip to Portugal | I will see Portugal.
study | learns Spanish | learns in the evening | has an exam in June | learns Korean | I have changed over to Korean.
budget | spends up to 300 | saves for a boat | pays in cash | spends up to 150 | Each week I can only spend 150 now.
health | sees a doctor in Bath | takes iron tablets | sleeps badly | sees a doctor in York | My new doctor is in York.
"""
"""Label, old fact, two facts that hold, new fact, message."""
REQUESTS = ("What should I keep in mind?", "Any advice for the next weeks?", "Could you help me to plan?")


class Update(NamedTuple):
    """One update: the dictionary before, the messages, and for a constructed one its subject."""

    known: dict[str, str]
    messages: tuple[str, str]
    subject: Any = None


Outcome = tuple[dict[str, str], bool]
"""The dictionary after an update, and whether the answer was usable."""


def constructed() -> Iterator[Update]:
    """Yield an update per subject and request."""
    for line in SUBJECTS.strip().splitlines():
        label, old, *holding, new, message = line.split(" | ")
        for request in REQUESTS:
            known = {"pets": OTHERS["pets"], label: "; ".join((old, *holding)), "music": OTHERS["music"]}
            yield Update(
                known,
                (f"{message} {request}", "Here are three things to consider."),
                (label, old, holding, new),
            )


def recorded(folder: Path, periods: int) -> Iterator[Update]:
    """Yield an update for each of the first periods of the recorded runs of a folder."""
    for run in sorted(path for path in folder.iterdir() if path.is_dir()):
        memories, dialogues = (
            list(json.loads((run / f"{name}_by_period.json").read_text(encoding="utf-8")).values())
            for name in ("in_context_memory", "interactions")
        )
        for memory, sessions in list(zip(memories, dialogues[1:], strict=False))[:periods]:
            known = {fact["label"]: fact["value"] for fact in memory[:LABELS]}
            user, assistant = (message["content"][:CHARACTERS] for message in sessions[0][:2])
            yield Update(known, (user, assistant))


def words(text: str) -> set[str]:
    """Return the words of a text in lower case, without those of one or two letters."""
    return set(re.findall(r"\w{3,}", text.lower()))


def lost_words(old: str, new: str) -> bool:
    """Return whether fewer than half of the old words are in the new text."""
    return len(words(old) & words(new)) < len(words(old)) / 2


async def dictionary_after(update: Update, chat: Any) -> Outcome:
    """Update a dictionary with the memory AWI."""
    memory = Awi(EntryStore(), Tools(chat), freq=2, ns=0)
    for label, value in update.known.items():
        memory.store.add(FACT, f"- {label}: {value}", sources=(), meta={"label": label})
    user, assistant = update.messages
    memory.store.advance(2)
    await memory.write([Message("m1", "user", user), Message("m2", "assistant", assistant)])
    facts = {item.meta["label"]: item.text.partition(": ")[2] for item in memory.store.live(FACT)}
    return facts, not memory.store.live(FAILURE)


def has(fact: str, text: str) -> bool:
    """Return whether a text contains the beginning of the last word of a fact."""
    return fact.rsplit(maxsplit=1)[-1][:5].lower() in text.lower()


def count(updates: Sequence[Update], after: Sequence[Outcome]) -> dict[str, list[bool]]:
    """Return for each question the answers of the updates that it concerns."""
    answers: dict[str, list[bool]] = defaultdict(list)
    for update, (facts, usable) in zip(updates, after, strict=True):
        rewritten = [label for label, value in update.known.items() if facts[label] != value]
        answers["the answer is unusable"].append(not usable)
        answers["a known label is written again"].append(bool(rewritten))
        if update.subject is None:
            answers["a value written again lost half of its words"] += [
                lost_words(update.known[label], facts[label]) for label in rewritten
            ]
            continue
        label, old, holding, new = update.subject
        everything = " ".join(facts.values())
        lost = not all(has(fact, everything) for fact in holding)
        answers["a fact that holds is lost"].append(lost)
        if label in rewritten:
            answers["a fact that holds is lost, where the label is written again"].append(lost)
        answers["the new fact is there"].append(has(new, everything))
        answers["the old fact is still there"].append(has(old, everything))
    return answers


def snapshots(folder: Path) -> dict[str, list[bool]]:
    """Return whether each recorded value that changed from one period to the next lost half of its words."""
    lost: list[bool] = []
    for path in sorted(folder.glob("*/in_context_memory_by_period.json")):
        recorded_periods = json.loads(path.read_text(encoding="utf-8")).values()
        periods = [{fact["label"]: fact["value"] for fact in period} for period in recorded_periods]
        for before, after in itertools.pairwise(periods):
            changed = [label for label, value in before.items() if after.get(label, value) != value]
            lost += [lost_words(before[label], after[label]) for label in changed]
    return {"a value written again lost half of its words": lost}


def wilson(answers: Sequence[bool]) -> str:
    """Return a count with Wilson's interval of the share."""
    number, total, z = sum(answers), len(answers), 1.96
    if not total:
        return "0 of 0"
    spread = z * ((number * (total - number) / total + z * z / 4) / total**2) ** 0.5
    low, high = (
        (number / total + z * z / total / 2 + sign * spread) / (1 + z * z / total) for sign in (-1, 1)
    )
    return f"{number} of {total} = {number / total:.2f} [{max(low, 0):.2f} {min(high, 1):.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8000/v1")
    parser.add_argument("--model", default="model")
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--periods", type=int, default=100)
    parser.add_argument("--prompt", type=Path)
    parser.add_argument("--home", type=Path, default=Path("awi_updates"))
    arguments = parser.parse_args()
    over: dict[str, Any] = {
        "home": arguments.home,
        "models": {
            "real": {"kind": "endpoint", "url": arguments.url, "model": arguments.model, "concurrency": 1}
        },
        "token_limits": {"memory": {"output": OUTPUT}},
    }
    if arguments.prompt:
        file = arguments.home / "prompts" / "awi" / "update.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(arguments.prompt, file)
        over["prompts"] = arguments.home / "prompts"
    settings = load(over=over)
    activate_prompts(settings)
    sets = {"constructed": list(constructed())}
    if arguments.runs:
        sets["recorded"] = list(recorded(arguments.runs, arguments.periods))
    models = Models(settings, SqlLedger(settings.ledger_url))

    async def play(chats: Any) -> dict[str, list[Outcome]]:
        chat = await chats.model("real", "memory")
        return {
            name: await asyncio.gather(*(dictionary_after(update, chat) for update in updates))
            for name, updates in sets.items()
        }

    try:
        after = models.run(RequestContext(run="bench", stage="memory", domain="", assistant="awi"), play)
    finally:
        models.close()
    figures = {name: count(updates, after[name]) for name, updates in sets.items()}
    if arguments.runs:
        figures["recorded, by their own model and prompt"] = snapshots(arguments.runs)
    for name, counts in figures.items():
        print(name)
        for question, answers in counts.items():
            print(f"  {question}: {wilson(answers)}")


if __name__ == "__main__":
    main()
