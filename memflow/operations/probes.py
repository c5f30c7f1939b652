"""One probe and an assistant's reply to it, joined from the lake and the ledger."""

from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memflow.errors import BadInput
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.records import Probe
    from memflow.resources.lake.lake import Lake
    from memflow.resources.ledger.sql_ledger import SqlLedger


def find_probe(lake: "Lake", probe_id: str, domain: str | None) -> "Probe":
    """Return the probe with this id. Raises BadInput for an unknown id; the message lists similar ids."""
    domains = lake.partitions("question.probes")
    if domain is not None and domain not in domains:
        raise BadInput(
            f"the domain {domain!r} has no probes. Generate them with `memflow run --domain {domain}`."
        )
    probes = lake.read_all("question.probes", [domain] if domain else domains)
    if not probes:
        raise BadInput(
            f"there is no probe {probe_id!r}. Generate probes with `memflow run --demo`; no domain has probes yet."
        )
    matching = [probe for probe in probes if probe.probe_id == probe_id]
    if not matching:
        raise BadInput(unknown_name("probe", probe_id, {probe.probe_id for probe in probes}))
    if len(matching) > 1:
        several = ", ".join(probe.domain for probe in matching)
        raise BadInput(
            f"the probe id {probe_id!r} occurs in several domains: {several}. Choose one with --domain."
        )
    return matching[0]


def answer_of(lake: "Lake", ledger: "SqlLedger | None", asked: "Probe", assistant: str) -> dict[str, Any]:
    """Return an assistant's `reply` to a probe, `recalled` entries, prompt `messages` and `verdicts`, with its name.

    Without a reply, `reply` is None and the lists are empty. `messages` is empty if the ledger lacks the request.
    """
    where = f"{asked.domain}/{assistant}"
    reply = next((row for row in lake.read("answer.replies", where) if row.probe_id == asked.probe_id), None)
    if reply is None:
        return {"assistant": assistant, "reply": None, "recalled": [], "messages": [], "verdicts": []}
    entries = {
        row.entry_id: {name: value for name, value in asdict(row).items() if name != "vector"}
        for row in lake.read("memory.indexes", where, vectors=False)
        if row.episode_id == asked.episode_id
    }
    messages = []
    with suppress(KeyError):  # not in this ledger
        stored = ledger.messages(reply.completion or "") if ledger is not None else ()
        messages = [asdict(message) for message in stored]
    judged = [name for name in lake.partitions("score.verdicts") if name == where]
    verdicts = lake.read_all("score.verdicts", judged)
    return {
        "assistant": assistant,
        "reply": asdict(reply),
        "recalled": [entries.get(name, {"entry_id": name, "text": None}) for name in reply.recalled],
        "messages": [{"role": message["role"], "content": message["content"]} for message in messages],
        "verdicts": [asdict(verdict) for verdict in verdicts if verdict.probe_id == asked.probe_id],
    }
