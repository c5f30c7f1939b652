"""A small lake and ledger with texts that attack a page, and functions that read a report's data files."""

import asyncio
import base64
import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import factories as make

from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.records import (
    Change,
    Claim,
    Entry,
    FailureAttribution,
    Profile,
    Reply,
    Score,
    TranscriptMessage,
    Variable,
)
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.report.export import Report, export_report
from memflow.resources.report.source import ReportOptions, ReportSource
from memflow.resources.settings.settings import Settings, load

DOMAIN = "Own Domain 100% 测试"
ASSISTANTS = ("none", "full")
EPISODES = ("a", "A", "../b c%2F&?#")
MALICIOUS = (
    "</script><script>alert(1)</script><!-- <svg onload=alert(2)> &lt; \u2028\u2029 "
    "\x1b]0;title\x07 \u202egnp.exe\u202c \x00"
)
"""Ends a script element, opens a comment and an SVG, and has control and bidirectional characters."""
SURROGATE = "half of a pair: \ud83d"
"""A lone surrogate, which the ledger's messages can contain."""
PROMPT, JUDGED, FORGOTTEN = "0" * 32, "1" * 32, "2" * 32
"""Request digests; the ledger does not have the last one."""


@dataclass
class ReportHome:
    """A home with one domain, two assistants and three episodes of one probe each."""

    settings: Settings
    ledger: SqlLedger
    options: ReportOptions = field(default_factory=ReportOptions)

    @property
    def lake(self) -> Lake:
        return Lake(self.settings.lake_root)

    def export(self, folder: Path, lake: Lake | None = None, **options: Any) -> Report:
        """Write the report of this home into a folder."""
        chosen = replace(self.options, **options)
        return export_report(ReportSource(self.settings, lake or self.lake, self.ledger, chosen), folder)

    def write(self, table: str, rows: list[Any], assistant: str = "", **meta: str) -> None:
        """Write the rows of a partition of the domain."""
        partition = f"{DOMAIN}/{assistant}" if assistant else DOMAIN
        self.lake.write(table, partition, rows, fingerprint="test", meta={"run": "run", **meta})

    def write_verdicts(
        self, assistant: str, value: float, scripted: str = "yes", model: str = "scripted", **more: str
    ) -> None:
        """Write one verdict per probe with this value, judged by a request that the ledger has."""
        digest = self.lake.facts("question.probes", DOMAIN)
        assert digest is not None
        rows = [
            make.verdict(
                domain=DOMAIN, assistant=assistant, probe_id=f"{episode}/q", episode_id=episode, dataset="own",
                value=value, completion=JUDGED,
            )
            for episode in EPISODES
        ]  # fmt: skip
        meta = {
            "model": model,
            "simulator": "the data set",
            "scripted": scripted,
            "probes": digest.digest,
            **more,
        }
        self.write("score.verdicts", rows, assistant, **meta)


def read_data(folder: Path, name: str) -> Any:
    """Return the value that a data file passes to the page; bytes for Parquet."""
    text = (folder / "data" / f"{name}.js").read_text(encoding="ascii")
    called = re.fullmatch(r'memflow\.take\("([^"]+)",(.*)\);\n', text, re.DOTALL)
    assert called is not None and called[1] == name
    value = json.loads(called[2])
    if not isinstance(value, str):
        return value
    content = base64.b64decode(value, validate=True)
    return content if name.startswith("verdicts/") else json.loads(gzip.decompress(content))


@contextmanager
def written_home(folder: Path) -> Iterator[ReportHome]:
    """Write the lake and the ledger of a home, and close the ledger afterwards."""
    own = {DOMAIN: {"benchmark": "amemgym", "datasets": []}}
    settings = load(over={"home": folder, "own_domains": own, "domains": (DOMAIN,)})
    settings.home.mkdir()
    with SqlLedger(settings.ledger_url) as ledger:
        asyncio.run(_write_requests(ledger))
        found = ReportHome(settings, ledger)
        _write_domain(found)
        for assistant in ASSISTANTS:
            _write_assistant(found, assistant)
        _write_scores(found)
        yield found


async def _write_requests(ledger: SqlLedger) -> None:
    account = RequestContext("run", "answer", "assistant", DOMAIN, "full", "scripted")
    for digest, text in ((PROMPT, MALICIOUS), (JUDGED, "because " + MALICIOUS)):
        request = ChatRequest(
            "own/choice", {}, (ChatMessage("user", SURROGATE), ChatMessage("user", "x" * 50_000))
        )
        completion = Completion(text, prompt_tokens=9, completion_tokens=3, reasoning_tokens=2, digest=digest)
        await ledger.put(completion, request, account)


def _write_domain(home: ReportHome) -> None:
    home.write(
        "state.profiles",
        [
            Profile(domain=DOMAIN, user_id=each, name=MALICIOUS, profile=MALICIOUS, start_date="")
            for each in EPISODES
        ],
    )
    home.write(
        "state.variables",
        [Variable(domain=DOMAIN, user_id="a", variable="diet", choices=[MALICIOUS, "b"], questions=[])],
    )
    change = Change(
        domain=DOMAIN, user_id="a", period=0, period_end="2026-01-01", variable="diet", old=None, value="b"
    )
    home.write("state.changes", [change])
    home.write("state.entities", [])
    home.write(
        "utterance.turns",
        [
            make.turn(
                domain=DOMAIN, episode_id=each, message_id=f"{each}/0", kind="given", text=MALICIOUS,
                exposes='{"diet": "b"}',
            )
            for each in EPISODES
        ],
    )  # fmt: skip
    home.write(
        "question.probes",
        [
            make.probe(
                domain=DOMAIN, probe_id=f"{each}/q", episode_id=each, dataset="own", question=MALICIOUS,
                options=[MALICIOUS, "b"], variables=["diet"], revealed="", evidence=[f"{each}/0"],
            )
            for each in EPISODES
        ],
    )  # fmt: skip


def _write_assistant(home: ReportHome, assistant: str) -> None:
    of = {"domain": DOMAIN, "assistant": assistant}
    home.write(
        "memory.transcripts",
        [
            TranscriptMessage(
                **of, episode_id=each, checkpoint=0, event=0, position=0, message_id=f"{each}/0", role="user",
                text=MALICIOUS, sequence=0, origin="given",
            )
            for each in EPISODES
        ],
        assistant,
    )  # fmt: skip
    home.write(
        "memory.indexes",
        [
            Entry(
                **of, episode_id=each, entry_id="message-0", kind="message", text=MALICIOUS, sources=[f"{each}/0"],
                since=1, vector=[0.5],
            )
            for each in EPISODES
        ],
        assistant,
    )  # fmt: skip
    home.write(
        "answer.replies",
        [
            Reply(
                **of, probe_id=f"{each}/q", episode_id=each, checkpoint=0, text=MALICIOUS, parsed="2",
                recalled=["message-0"], recalled_sources=[f"{each}/0"], cut=each == "a", attempts=1,
                completion={"a": PROMPT, "A": FORGOTTEN}.get(each),
                reason=None if each == "a" else f"cannot connect to http://10.0.0.7:8000/v1 ({home.settings.home})",
            )
            for each in EPISODES
        ],
        assistant,
    )  # fmt: skip
    home.write_verdicts(assistant, 1.0 if assistant == "full" else 0.0)
    home.write(
        "score.attributions",
        [
            FailureAttribution(
                **of, probe_id="a/q", episode_id="a", checkpoint=0, evidence=1, loss=1.0, write=0.25, read=0.75,
                utilization=0.0,
            )
        ],
        assistant,
    )  # fmt: skip
    claim = Claim(**of, claim_id="c", episode_id="a", checkpoint=0, text=MALICIOUS, value=1.0)
    home.write("score.claims", [claim], assistant)


def _write_scores(home: ReportHome) -> None:
    scores = [
        Score(
            domain=DOMAIN, assistant=name, memory=name, model="scripted", metric="accuracy", value=value, low=0.0,
            high=1.0, n=3, n_episodes=3, coverage=1.0, simulator="the data set", scripted=True,
            embedder=f"{home.settings.home}/weights/bge", incomplete="2 of 20 users (limit 2)",
        )
        for name, value in (("none", 0.0), ("full", 1.0))
    ]  # fmt: skip
    home.lake.write("score.leaderboard", "all", scores, fingerprint="test")
