"""A home with one measured domain: one user of amemgym_demo, with the scripted chat, under four memories."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from memflow.benchmarks import registry
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.datasets import dataset
from memflow.chat.ledger import RequestContext
from memflow.cli import app
from memflow.memories.registry import find
from memflow.run.answer import answer_all
from memflow.run.play import play_all
from memflow.run.transcripts import entries_of, held_at, pasts_of, said_of
from memflow.scoring.attribution import attribute
from memflow.scoring.comparability import MeasuredSettings, compare_settings, evidence_scores
from resources.lake import Lake
from resources.ledger import SqlLedger
from resources.library import Library
from resources.models import Chats, Models
from resources.settings import Settings, load

DOMAIN = "amemgym_demo"
ASSISTANTS = ("none", "oracle", "full", "awi")


@dataclass(frozen=True)
class Home:
    """A home folder, and `memflow` in it."""

    folder: Path

    def __call__(self, *arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(app, ["--home", str(self.folder), *arguments], **options)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of this machine, and a folder of its own to be in."""
    for name in ("MEMFLOW_SETTINGS", "MEMFLOW_DATA", "MEMFLOW_HOME", "MEMFLOW_LAKE", "MEMFLOW_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # memflow adds the folder that it is called in


@pytest.fixture
def empty(tmp_path: Path) -> Home:
    """A home in which nothing was ever run."""
    return Home(tmp_path / "home")


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home in which one user was measured. No command of these tests writes to it."""
    folder = tmp_path_factory.mktemp("measured")
    settings = load(over={"home": folder})
    models = Models(settings, SqlLedger(settings.ledger_url))
    try:
        _measure(settings, models, Lake(settings.lake_root))
    finally:
        models.close()
    return Home(folder)


def _measure(settings: Settings, models: Models, lake: Lake) -> None:
    domain = settings.domain(DOMAIN).limited(1)
    benchmark = registry.benchmark(domain.benchmark)
    library = Library(None)
    records = [
        row
        for name in domain.datasets
        for row in benchmark.records(dataset(name), library.paths(dataset(name)))
    ]

    def staged(stage: str, work: Callable[[Chats], Any], assistant: str = "") -> Any:
        return models.run(RequestContext(run="test", stage=stage, domain=DOMAIN, assistant=assistant), work)

    async def users(chats: Chats) -> Any:
        simulator = await chats.role("simulator")
        states = await benchmark.states(domain, records, simulator)
        turns = await benchmark.turns(domain, records, states, simulator)
        return states, turns, await benchmark.probes(domain, records, states, turns, simulator)

    states, turns, probes = staged("state", users)
    for table, rows in (
        ("state.profiles", states.profiles),
        ("state.variables", states.variables),
        ("state.changes", states.changes),
        ("utterance.turns", turns),
        ("question.probes", probes),
    ):
        lake.write(table, DOMAIN, rows, recipe="test", meta={"run": "test"})
    verdicts, attributed, terms = {}, {}, {}
    for assistant in ASSISTANTS:

        async def play(chats: Chats, assistant: str = assistant) -> Any:
            episodes = benchmark.episodes(domain, states, turns, [], await chats.role("simulator"))
            remember = find(assistant).remember(await chats.tools(assistant))
            return await play_all(
                episodes, remember, benchmark.replier(domain, await chats.answering(assistant))
            )

        played = staged("memory", play, assistant) if find(assistant).system.plays else []
        said, entries = said_of(DOMAIN, assistant, played), entries_of(DOMAIN, assistant, played)
        pasts = pasts_of(entries, said, probes)

        async def ask(chats: Chats, assistant: str = assistant, pasts: Any = pasts) -> Any:
            remember = find(assistant).remember(await chats.tools(assistant))
            chat = await chats.answering(assistant)
            return await answer_all(benchmark, domain, assistant, probes, pasts, remember, chat)

        replies = staged("answer", ask, assistant)
        verdicts[assistant] = make_verdicts(domain, probes, replies)
        system = find(assistant).system
        claims = benchmark.claims(domain, assistant, states, turns) if system.recalls else []
        held = held_at(pasts, claims, system.memory.bookkeeping)

        async def judge(chats: Chats, claims: Any = claims, held: Any = held) -> Any:
            return await benchmark.judge_claims(domain, claims, held, await chats.role("judge"))

        claims = staged("score", judge, assistant) if claims else []
        for table, rows in (
            ("memory.transcripts", said),
            ("memory.indexes", entries),
            ("answer.replies", replies),
            ("score.verdicts", verdicts[assistant]),
            ("score.claims", claims),
        ):
            lake.write(table, f"{DOMAIN}/{assistant}", rows, recipe="test", meta={"run": "test"})
        terms[assistant] = MeasuredSettings.of(replies, budget=find(assistant).values.get("budget"))
        attributed[assistant] = attribute(
            DOMAIN,
            assistant,
            find(assistant).system,
            said=said,
            entries=entries,
            probes=probes,
            replies=replies,
            verdicts=verdicts[assistant],
        )
    figures = []
    for assistant in ASSISTANTS:
        own = benchmark.scores(
            domain,
            AssistantResults(
                domain=DOMAIN,
                assistant=assistant,
                memory=assistant,
                model="scripted",
                probes=probes,
                verdicts=verdicts[assistant],
                oracle=verdicts["oracle"],
                none=verdicts["none"],
                simulator="",
                scripted=True,
            ),
        )
        figures += [*own, *evidence_scores(attributed[assistant], own[0], seed=0)]
    lake.write("score.leaderboard", "all", compare_settings(figures, terms), recipe="test")
