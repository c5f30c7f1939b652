"""`memflow show probe`: all data of one probe from question to verdicts, joined from the lake and the ledger."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.options import argument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.import_paths import assistant_name
from memflow.operations.probes import answer_of, find_probe
from memflow.operations.stored_names import assistants_of, check_names
from memflow.rendering.evidence import metric_name
from memflow.rendering.tables import Column, Text, cell, table_of
from memflow.rendering.texts import cut, heading, inset, note
from memflow.scoring.judges import STANDARD

if TYPE_CHECKING:
    from memflow.records import Probe

LONGEST = 60


def probe(
    ctx: typer.Context,
    probe_id: Annotated[str, argument("ID", "The probe, as `memflow show verdicts` names it.")],
    assistant: Annotated[
        str | None, option("--assistant", "The reply of this assistant in full.", parser=assistant_name)
    ] = None,
    domain: Annotated[
        str | None, option("--domain", "The domain; needed where several have a probe of that id.")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Show one probe in full: question, options, gold, recalled entries, prompt, reply and verdicts.

    Without --assistant: the question, and one line per assistant with its reply.
    """
    from memflow.resources.ledger.sql_ledger import SqlLedger

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    asked = find_probe(lake, probe_id, domain)
    assistants = assistants_of(lake, "answer.replies", asked.domain)
    check_names(asked.domain, "assistant with answers", assistant and [assistant], assistants)
    with SqlLedger(settings.ledger_url) as ledger:
        answered = [answer_of(lake, ledger, asked, name) for name in assistants if assistant in (None, name)]
    parts = _whole(answered[0]) if len(answered) == 1 else _replies(answered)
    print_result(form, {"probe": asdict(asked), "answered": answered}, *_question(asked), *parts)


def _question(asked: "Probe") -> Iterator[RenderableType]:
    after = "" if asked.after is None else f", asked after the message {asked.after}"
    category = f", {asked.category}" if asked.category else ""
    yield Text(asked.probe_id, "bold")
    yield note(
        f"{asked.domain}, episode {asked.episode_id}, checkpoint {asked.checkpoint}{after}; {asked.kind}, scored by "
        f"{asked.metric}{category}"
    )
    yield heading("Question")
    yield inset(asked.question)
    for number, choice in enumerate(asked.options, 1):
        gold = asked.gold == str(number)
        yield inset(f"{number}. {choice}{'   (gold)' if gold else ''}", "green" if gold else "")
    if not asked.options:
        yield heading("Gold")
        yield inset(asked.gold)
    if asked.variables:
        yield note(f"\nDepends on the states {', '.join(asked.variables)}.")
    if asked.evidence:
        yield note(f"\nEvidence: the messages {', '.join(asked.evidence)}.")
    if asked.reason:
        yield Text(f"\nQuarantined: {asked.reason}", "red")


def _replies(answered: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Yield the table of the replies to a probe, one line per assistant."""
    if not answered:
        yield note("\nNo assistant was asked yet.")
        return
    yield heading("Replies")
    yield table_of(answered, COLUMNS)
    yield note("\n--assistant NAME shows one reply in full.")


def _reply(row: dict[str, Any]) -> str:
    reply = row["reply"] or {}
    return cut(reply.get("parsed") or reply.get("text") or reply.get("reason") or "not asked", LONGEST)


def _verdicts(row: dict[str, Any]) -> str:
    verdicts = (verdict for verdict in row["verdicts"] if verdict["variant"] == STANDARD)
    return ", ".join(f"{verdict['metric']} {cell(verdict['value']) or 'none'}" for verdict in verdicts)


def _whole(answered: dict[str, Any]) -> Iterator[RenderableType]:
    """Yield all that is known of one assistant's reply."""
    reply = answered["reply"]
    yield heading(f"Assistant {answered['assistant']}")
    if reply is None:
        yield note("It was not asked this probe.")
        return
    yield from _recalled(answered["recalled"], reply)
    yield heading("Prompt as sent" + _tokens(reply["prompt_tokens"]))
    if not answered["messages"]:
        yield note("  not in this ledger")
    for message in answered["messages"]:
        yield inset(f"[{message['role']}]", "cyan")
        yield inset(message["content"])
    yield heading("Reply" + _tokens(reply["completion_tokens"]))
    yield inset(reply["text"] or "none")
    if reply["parsed"] != reply["text"]:
        attempts = f" ({reply['attempts']} attempts)" if reply["attempts"] > 1 else ""
        yield note(f"  read as: {reply['parsed'] or 'nothing'}{attempts}")
    if reply["reason"]:
        yield Text(f"  {reply['reason']}", "red")
    yield heading("Verdicts")
    for row in answered["verdicts"]:
        value = cell(row["value"]) if row["value"] is not None else f"none: {row['reason']}"
        yield inset(f"{metric_name(row['metric'], row['variant'])}: {value}")
    if not answered["verdicts"]:
        yield note("  none yet")


def _recalled(recalled: list[dict[str, Any]], reply: dict[str, Any]) -> Iterator[RenderableType]:
    from memflow.memories.server.mirror import is_unstored

    injected, dropped = reply["injected_tokens"], reply["dropped_tokens"]
    left_out = f", {dropped:,} left out" if dropped else ""
    if reply["dropped_messages"]:
        left_out += f" with the {reply['dropped_messages']:,} oldest messages"
    yield heading(f"Recalled: {len(recalled)} entries, {injected:,} tokens injected (estimated){left_out}")
    for entry in recalled:
        if entry["text"] is None:
            why = (
                "the memory server does not export it" if is_unstored(entry["entry_id"]) else "no such entry"
            )
            yield note(f"  {entry['entry_id']}: {why}")
            continue
        until = "" if entry["until"] is None else f" to {entry['until']}"
        sources = f", from {', '.join(entry['sources'])}" if entry["sources"] else ""
        yield inset(
            f"{entry['entry_id']}, {entry['kind']}, sequence number {entry['since']}{until}{sources}", "dim"
        )
        yield inset(entry["text"])
    for reason in reply["recall_failures"]:
        yield inset(f"left out: {reason}", "red")


def _tokens(count: int | None) -> str:
    return "" if count is None else f": {count:,} tokens"


COLUMNS: dict[str, Column] = {
    "assistant": "assistant",
    "recalled": lambda row: len(row["recalled"]),
    "prompt tokens": lambda row: (row["reply"] or {}).get("prompt_tokens"),
    "reply": _reply,
    "verdicts": _verdicts,
}
