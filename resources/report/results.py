"""The data files `results/DOMAIN/ASSISTANT/SHARD`: messages, entries, replies, prompts and verdicts of episodes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memflow.pipeline import partition_key
from memflow.records import Probe, TranscriptMessage
from memflow.resources.ledger.sql_ledger import RecordedRequest
from memflow.resources.report.episodes import EpisodeRows
from memflow.resources.report.schema import CLAIMS, ENTRIES, MESSAGES, REPLIES, VERDICTS
from memflow.resources.report.source import ReportSource
from memflow.run.answer import EpisodeHistory
from memflow.run.transcripts import episode_histories

LONGEST_HEAD, LONGEST_TAIL = 30_000, 10_000
"""Characters of a prompt's message that are kept from its beginning and its end."""
FORGOTTEN = "not in this ledger"
"""The reason for a prompt or a judge's reply that the ledger no longer has."""
NO_REQUEST = "no request was sent"
SKIPPED = "left out"


class PromptContents:
    """The distinct contents of the messages of prompts. Prompts refer to them by number, since they share many."""

    def __init__(self) -> None:
        self.contents: list[str | list[Any]] = []
        self._numbers: dict[str, int] = {}

    def number(self, content: str) -> int:
        """Return the number under which a text is stored: a very long one as [start, omitted characters, end]."""
        number = self._numbers.get(content)
        if number is None:
            number = self._numbers[content] = len(self.contents)
            omitted = len(content) - LONGEST_HEAD - LONGEST_TAIL
            self.contents.append(
                content if omitted <= 0 else [content[:LONGEST_HEAD], omitted, content[-LONGEST_TAIL:]]
            )
        return number


class AssistantResults:
    """The stored results of an assistant in a domain; `probes` are the probes of the domain by episode."""

    def __init__(
        self, source: ReportSource, domain: str, assistant: str, probes: Mapping[str, Sequence[Probe]]
    ) -> None:
        self._source = source
        self._probes = probes
        partition = partition_key(domain, assistant)
        self._domain, self._assistant = domain, assistant
        self._rows = {
            each.table: EpisodeRows(source.lake, each.table, partition)
            for each in (MESSAGES, ENTRIES, REPLIES, VERDICTS, CLAIMS)
        }

    def file(self, episodes: Sequence[str]) -> dict[str, Any]:
        """Return results by episode (`episodes`), and `contents` of prompt messages, to which they refer by index."""
        contents = PromptContents()
        tables = {episode: self._tables(episode) for episode in episodes}
        requests = self._requests(
            row["completion"]
            for rows in tables.values()
            for table in (REPLIES.table, VERDICTS.table)
            for row in rows[table]
        )
        return {
            "episodes": {
                episode: self._episode(episode, rows, requests, contents) for episode, rows in tables.items()
            },
            "contents": contents.contents,
        }

    def _tables(self, episode: str) -> dict[str, list[dict[str, Any]]]:
        texts = self._source.options.texts
        return {
            each.table: self._rows[each.table].rows(each, episode, self._source.redaction, texts=texts)
            for each in (MESSAGES, ENTRIES, REPLIES, VERDICTS, CLAIMS)
        }

    def _requests(self, digests: Iterable[str | None]) -> Mapping[str, RecordedRequest]:
        if not self._source.options.texts:
            return {}
        return self._source.ledger.requests([*dict.fromkeys(filter(None, digests))])

    def _episode(
        self,
        episode: str,
        rows: Mapping[str, list[dict[str, Any]]],
        requests: Mapping[str, RecordedRequest],
        contents: PromptContents,
    ) -> dict[str, Any]:
        past = self._history(episode)
        probes = {probe.probe_id: probe for probe in self._probes.get(episode, ())}
        replies = {}
        for row in rows[REPLIES.table]:
            probe = probes.get(row.pop("probe"))
            prompt = self._prompt(row.pop("completion"), requests, contents)
            if probe is not None:
                replies[probe.probe_id] = {**row, **prompt, "sequence": _sequence(past, probe)}
        verdicts: dict[str, list[dict[str, Any]]] = {}
        for row in rows[VERDICTS.table]:
            judged = self._judge_reply(row.pop("completion"), requests)
            verdicts.setdefault(row.pop("probe"), []).append({**row, **judged})
        return {
            "messages": rows[MESSAGES.table],
            "entries": rows[ENTRIES.table],
            "checkpoints": {} if past is None else dict(past.checkpoints),
            "replies": replies,
            "verdicts": verdicts,
            "claims": rows[CLAIMS.table],
        }

    def _prompt(
        self,
        completion: str | None,
        requests: Mapping[str, RecordedRequest],
        contents: PromptContents,
    ) -> dict[str, Any]:
        found = requests.get(completion or "")
        if found is None:
            reason = (
                NO_REQUEST if completion is None else FORGOTTEN if self._source.options.texts else SKIPPED
            )
            return {"prompt": None, "prompt_reason": reason, "thoughts_tokens": None}
        prompt = [[each.role, contents.number(each.content)] for each in found.messages]
        tokens = found.completion.reasoning_tokens or None
        return {"prompt": prompt, "prompt_reason": None, "thoughts_tokens": tokens}

    def _judge_reply(self, completion: str | None, requests: Mapping[str, RecordedRequest]) -> dict[str, Any]:
        found = requests.get(completion or "")
        reason = None
        if found is None and completion is not None:
            reason = FORGOTTEN if self._source.options.texts else SKIPPED
        return {"judge_reply": None if found is None else found.completion.text, "judge_reason": reason}

    def _history(self, episode: str) -> EpisodeHistory | None:
        """Return the episode's checkpoints and messages, without entries; None if it was not played."""
        said = self._rows[MESSAGES.table].arrow(episode)
        if said is None:
            return None
        lines = [TranscriptMessage(**row) for row in said.to_pylist()]
        return episode_histories([], lines, self._probes.get(episode, ())).get(episode)


def _sequence(past: EpisodeHistory | None, probe: Probe) -> int | None:
    """Return the sequence number at which a probe was asked; None if its message or episode was not played."""
    if past is None or (probe.after is not None and probe.after not in past.messages):
        return None
    return past.sequence(probe)
