"""`memflow show probe`: all data of one probe from question to verdicts, joined from the lake and the ledger."""

from collections.abc import Iterator
from dataclasses import asdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, cell, cut, heading, note, table
from memflow.cli.stored_names import assistants_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.records import Probe
    from resources.lake.lake import Lake
    from resources.ledger.sql_ledger import SqlLedger

LONGEST = 60


def probe(
    ctx: typer.Context,
    probe_id: Annotated[
        str, typer.Argument(metavar="ID", help="The probe, as `memflow show verdicts` names it.")
    ],
    assistant: Annotated[
        str | None,
        typer.Option("--assistant", metavar="NAME", help="The reply of this assistant in full."),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain", metavar="NAME", help="The domain; needed where several have a probe of that id."
        ),
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Show one probe in full: question, options, gold, recalled entries, prompt, reply and verdicts.

    Without --assistant: the question, and one line per assistant with its reply.
    """
    from resources.ledger.sql_ledger import SqlLedger

    settings = front_of(ctx).load()
    lake = front_of(ctx).lake()
    asked = find_probe(lake, probe_id, domain)
    assistants = assistants_of(lake, "answer.replies", asked.domain)
    if assistant is not None and assistant not in assistants:
        known = ", ".join(assistants) or "none yet"
        raise BadInput(
            f"{asked.domain} has no answers of assistant {assistant!r}. Use an assistant with answers: {known}"
        )
    chosen = assistants if assistant is None else [assistant]
    with SqlLedger(settings.ledger_url) as ledger:
        answered = [_answered(lake, ledger, asked, name) for name in chosen]
    whole = len(answered) == 1
    answer(
        form,
        {"probe": asdict(asked), "answered": answered},
        *_question(asked),
        *(_whole(answered[0]) if whole else _replies_table(answered)),
    )


def find_probe(lake: "Lake", probe_id: str, domain: str | None) -> "Probe":
    """Return the probe with this id. Raises BadInput for an unknown id; the message lists similar ids."""
    domains = lake.partitions("question.probes")
    if domain is not None and domain not in domains:
        raise BadInput(
            f"the domain {domain!r} has no probes. Generate them with `memflow run --domain {domain}`."
        )
    held = lake.read_all("question.probes", [domain] if domain else domains)
    found = [each for each in held if each.probe_id == probe_id]
    if len(found) > 1:
        several = ", ".join(each.domain for each in found)
        raise BadInput(
            f"the probe id {probe_id!r} occurs in several domains: {several}. Choose one with --domain."
        )
    if not found:
        raise BadInput(
            f"there is no probe {probe_id!r}. {_next_step(probe_id, [each.probe_id for each in held])}"
        )
    return found[0]


def _next_step(probe_id: str, known: list[str]) -> str:
    if not known:
        return "Generate probes with `memflow run --demo`; no domain has probes yet."
    near = [name for name in known if probe_id in name] or get_close_matches(probe_id, known, n=5, cutoff=0.4)
    return f"Use a similar id: {', '.join(near[:5])}." if near else f"Use an existing id, such as {known[0]}."


def _answered(lake: "Lake", ledger: "SqlLedger", asked: "Probe", assistant: str) -> dict[str, Any]:
    """Return one assistant's recalled entries, prompt, reply and verdicts for a probe."""
    where = f"{asked.domain}/{assistant}"
    reply = next((row for row in lake.read("answer.replies", where) if row.probe_id == asked.probe_id), None)
    if reply is None:
        return {"assistant": assistant, "reply": None, "recalled": [], "messages": [], "verdicts": []}
    entries = {
        row.entry_id: row
        for row in lake.read("memory.indexes", where, vectors=False)
        if row.episode_id == asked.episode_id
    }
    recalled = []
    for name in reply.recalled:
        entry = asdict(entries[name]) if name in entries else {"entry_id": name, "text": None}
        entry.pop("vector", None)
        recalled.append(entry)
    verdicts = []
    if where in lake.partitions("score.verdicts"):
        held = lake.read("score.verdicts", where)
        verdicts = [asdict(row) for row in held if row.probe_id == asked.probe_id]
    return {
        "assistant": assistant,
        "reply": asdict(reply),
        "recalled": recalled,
        "messages": _messages(ledger, reply.completion),
        "verdicts": verdicts,
    }


def _messages(ledger: "SqlLedger", digest: str | None) -> list[dict[str, str]]:
    if digest is None:
        return []
    try:
        return [{"role": each.role, "content": each.content} for each in ledger.messages(digest)]
    except KeyError:
        return []


def _question(asked: "Probe") -> Iterator[RenderableType]:
    yield Text(f"{asked.probe_id}", "bold")
    where = f"{asked.domain}, episode {asked.episode_id}, checkpoint {asked.checkpoint}"
    if asked.after is not None:
        where += f", asked after the message {asked.after}"
    yield note(
        f"{where}; {asked.kind}, scored by {asked.metric}" + (f", {asked.category}" if asked.category else "")
    )
    yield heading("Question")
    yield _block(asked.question)
    for number, option in enumerate(asked.options, 1):
        gold = asked.gold == str(number)
        yield _inset(Text(f"{number}. {option}{'   (gold)' if gold else ''}", "green" if gold else ""))
    if not asked.options:
        yield heading("Gold")
        yield _block(asked.gold)
    if asked.variables:
        yield note(f"\nDepends on the states {', '.join(asked.variables)}.")
    if asked.evidence:
        yield note(f"\nEvidence: the messages {', '.join(asked.evidence)}.")
    if asked.reason:
        yield Text(f"\nQuarantined: {asked.reason}", "red")


def _replies_table(answered: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Return a printable table of the replies to a probe, one line per assistant."""
    if not answered:
        yield note("\nNo assistant was asked yet.")
        return
    rows = []
    for each in answered:
        reply = each["reply"] or {}
        said = reply.get("parsed") or reply.get("text") or reply.get("reason") or "not asked"
        verdicts = ", ".join(
            f"{row['metric']} {cell(row['value']) or 'none'}"
            for row in each["verdicts"]
            if row["variant"] == "standard"
        )
        rows.append(
            (
                each["assistant"],
                len(each["recalled"]),
                reply.get("prompt_tokens"),
                cut(said, LONGEST),
                verdicts,
            )
        )
    yield heading("Replies")
    yield table(
        "",
        ("assistant", "recalled", "prompt tokens", "reply", "verdicts"),
        rows,
        right=("recalled", "prompt tokens"),
    )
    yield note("\n--assistant NAME shows one reply in full.")


def _whole(each: dict[str, Any]) -> Iterator[RenderableType]:
    reply = each["reply"]
    yield heading(f"Assistant {each['assistant']}")
    if reply is None:
        yield note("It was not asked this probe.")
        return
    yield from _recalled(each["recalled"], reply)
    yield heading("Prompt as sent" + _tokens(reply["prompt_tokens"]))
    if not each["messages"]:
        yield note("  not in this ledger")
    for sent in each["messages"]:
        yield _inset(Text(f"[{sent['role']}]", "cyan"))
        yield _block(sent["content"])
    yield heading("Reply" + _tokens(reply["completion_tokens"]))
    yield _block(reply["text"] or "none")
    if reply["parsed"] != reply["text"]:
        asked = f" ({reply['attempts']} attempts)" if reply["attempts"] > 1 else ""
        yield note(f"  read as: {reply['parsed'] or 'nothing'}{asked}")
    if reply["reason"]:
        yield Text(f"  {reply['reason']}", "red")
    yield heading("Verdicts")
    for row in each["verdicts"]:
        variant = "" if row["variant"] == "standard" else f" ({row['variant']})"
        value = cell(row["value"]) if row["value"] is not None else f"none: {row['reason']}"
        yield _inset(Text(f"{row['metric']}{variant}: {value}"))
    if not each["verdicts"]:
        yield note("  none yet")


def _recalled(recalled: list[dict[str, Any]], reply: dict[str, Any]) -> Iterator[RenderableType]:
    injected, dropped = reply["injected_tokens"], reply["dropped_tokens"]
    left_out = f", {dropped:,} left out" if dropped else ""
    if reply["dropped_messages"]:
        left_out += f" with the {reply['dropped_messages']:,} oldest messages"
    from memflow.memories.server.mirror import unstored

    yield heading(f"Recalled: {len(recalled)} entries, {injected:,} tokens injected (estimated){left_out}")
    for entry in recalled:
        if entry["text"] is None:
            why = "the memory server does not export it" if unstored(entry["entry_id"]) else "no such entry"
            yield note(f"  {entry['entry_id']}: {why}")
            continue
        until = "" if entry["until"] is None else f" to {entry['until']}"
        facts = f"{entry['entry_id']}, {entry['kind']}, sequence number {entry['since']}{until}"
        if entry["sources"]:
            facts += f", from {', '.join(entry['sources'])}"
        yield _inset(Text(facts, "dim"))
        yield _block(entry["text"])
    for reason in reply["recall_failures"]:
        yield _inset(Text(f"left out: {reason}", "red"))


def _block(text: str) -> RenderableType:
    return _inset(Text(text))


def _inset(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, 2), expand=False)


def _tokens(count: int | None) -> str:
    return "" if count is None else f": {count:,} tokens"
