"""The report of a lake with a million verdicts: CPU seconds of the first export, and of one without changes.

8 domains of 5,000 probes, 25 assistants: each probe has a question, a reply and a verdict. Writing the lake does not
count. With a folder, the report is kept there, for measurements in a browser.

    python -m bench.report [FOLDER]

The command prints one JSON line, and its exit code is 1 if the first export takes more than 10 minutes.
"""

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import report
from memflow.records import (
    Entry,
    FailureAttribution,
    Probe,
    Profile,
    Reply,
    Score,
    TranscriptMessage,
    Turn,
    Verdict,
)
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.report.export import Report, export_report
from memflow.resources.report.source import ReportSource
from memflow.resources.settings.settings import load
from memflow.scoring.estimate import MetricContext, probe_score

DOMAINS, ASSISTANTS, EPISODES, CHECKPOINTS, QUESTIONS = 8, 25, 20, 10, 25
PROBES = EPISODES * CHECKPOINTS * QUESTIONS
MESSAGES = 10
"""Messages of an episode before each checkpoint."""
BOUND_S = 600.0
WORDS = (
    *("river", "copper", "violin", "harbor", "saffron", "ledger"),
    *("walnut", "meadow", "compass", "lantern", "orchard", "granite"),
)


def main(folder: Path | None = None) -> int:
    """Print the CPU seconds of exporting a million verdicts. Return 1 if they exceed the bound, else 0."""
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        own = {f"large_{number}": {"benchmark": "amemgym", "datasets": []} for number in range(DOMAINS)}
        settings = load(over={"home": home, "own_domains": own, "domains": tuple(own)})
        lake = Lake(settings.lake_root)
        write_lake(lake, list(own))
        out = folder or home / "report"
        with SqlLedger(settings.ledger_url) as ledger:
            first_s, first = _cpu(lambda: export_report(ReportSource(settings, lake, ledger), out))
            again_s, again = _cpu(lambda: export_report(ReportSource(settings, lake, ledger), out))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report(
        {"name": "report", "value": round(first_s, 1), "unit": "CPU s", "bound": BOUND_S},
        verdicts=DOMAINS * ASSISTANTS * PROBES,
        unchanged_s=round(again_s, 1),
        files=len(first.files),
        rewritten=len(again.written),
        megabytes=round(first.bytes / 1e6),
        peak_megabytes=round(peak),
    )
    return int(first_s > BOUND_S or bool(again.written))


def write_lake(lake: Lake, domains: list[str]) -> None:
    """Write the tables of synthetic domains and assistants, and a leaderboard."""
    scores = []
    for domain in domains:
        probes = _domain(lake, domain)
        digest = lake.facts("question.probes", domain)
        for number in range(ASSISTANTS):
            scores += _assistant(lake, domain, f"memory_{number:02}", probes, digest.digest if digest else "")
    lake.write("score.leaderboard", "all", scores, fingerprint="")


def _domain(lake: Lake, domain: str) -> list[Probe]:
    chance = random.Random(domain)
    probes, turns, profiles = [], [], []
    for user in range(EPISODES):
        episode = f"user-{user:02}"
        profiles.append(
            Profile(domain=domain, user_id=episode, name=f"User {user}", profile="", start_date="2026-01-01")
        )
        for checkpoint in range(CHECKPOINTS):
            for position in range(MESSAGES):
                turns.append(
                    Turn(
                        domain=domain,
                        episode_id=episode,
                        checkpoint=checkpoint,
                        event=checkpoint * MESSAGES + position,
                        position=0,
                        message_id=f"{episode}/{checkpoint}/{position}",
                        kind="given",
                        role="user",
                        text=_words(chance, 40),
                    )
                )
            probes += [
                Probe(
                    domain=domain,
                    probe_id=f"{episode}/p{checkpoint}/q{question}",
                    episode_id=episode,
                    checkpoint=checkpoint,
                    kind="choice",
                    dataset=f"set {user % 4}",
                    category=str(question % 5),
                    metric="accuracy",
                    question=f"Which {_words(chance, 12)}?",
                    options=[_words(chance, 6) for _ in range(4)],
                    variables=[],
                    gold=str(chance.randint(1, 4)),
                    revealed="",
                    evidence=[f"{episode}/{checkpoint}/{chance.randrange(MESSAGES)}"],
                )
                for question in range(QUESTIONS)
            ]
    for table, rows in (
        ("utterance.turns", turns),
        ("question.probes", probes),
        ("state.profiles", profiles),
    ):
        lake.write(table, domain, rows, fingerprint="")
    for table in ("state.variables", "state.changes", "state.entities"):
        lake.write(table, domain, [], fingerprint="")
    return probes


def _assistant(lake: Lake, domain: str, assistant: str, probes: list[Probe], version: str) -> list[Score]:
    chance = random.Random(f"{domain} {assistant}")
    skill = chance.uniform(0.3, 0.9)
    said, entries = [], []
    for user in range(EPISODES):
        for number in range(CHECKPOINTS * MESSAGES):
            episode, name = f"user-{user:02}", f"user-{user:02}/{number // MESSAGES}/{number % MESSAGES}"
            text = _words(chance, 40)
            said.append(
                TranscriptMessage(
                    domain=domain, assistant=assistant, episode_id=episode, checkpoint=number // MESSAGES,
                    event=number, position=0, message_id=name, role="user", text=text, sequence=number,
                    origin="given",
                )
            )  # fmt: skip
            entries.append(
                Entry(
                    domain=domain, assistant=assistant, episode_id=episode, entry_id=f"message-{number}",
                    kind="message", text=text, sources=[name], since=number + 1,
                )
            )  # fmt: skip
    values = {probe.probe_id: float(chance.random() < skill) for probe in probes}
    replies = [
        Reply(
            domain=domain, assistant=assistant, probe_id=probe.probe_id, episode_id=probe.episode_id,
            checkpoint=probe.checkpoint, text=f"The answer is {probe.gold}.", parsed=probe.gold,
            recalled=[f"message-{chance.randrange(probe.checkpoint * MESSAGES + 1)}"], recalled_sources=[],
            prompt_tokens=chance.randrange(500, 900), completion_tokens=6, attempts=1,
        )
        for probe in probes
    ]  # fmt: skip
    attributions = [
        FailureAttribution(
            domain=domain, assistant=assistant, probe_id=probe.probe_id, episode_id=probe.episode_id,
            checkpoint=probe.checkpoint, evidence=1, loss=1 - values[probe.probe_id],
            **{name: (1 - values[probe.probe_id]) * (name == failure) for name in ("write", "read", "utilization")},
        )
        for probe in probes
        for failure in [chance.choice(("write", "read", "utilization"))]
    ]  # fmt: skip
    verdicts = [
        Verdict(
            domain=domain, assistant=assistant, probe_id=probe.probe_id, episode_id=probe.episode_id,
            checkpoint=probe.checkpoint, dataset=probe.dataset, category=probe.category, metric="accuracy",
            value=values[probe.probe_id],
        )
        for probe in probes
    ]  # fmt: skip
    meta = {"model": "synthetic", "simulator": "the data set", "scripted": "yes", "probes": version}
    for table, rows in (
        ("memory.transcripts", said),
        ("memory.indexes", entries),
        ("answer.replies", replies),
        ("score.attributions", attributions),
        ("score.verdicts", verdicts),
        ("score.claims", []),
    ):
        lake.write(table, f"{domain}/{assistant}", rows, fingerprint="", meta=meta)
    context = MetricContext(
        domain=domain,
        assistant=assistant,
        memory=assistant,
        model="synthetic",
        simulator="the data set",
        scripted=True,
        seed=42,
    )
    slices = {"all": probes} | {
        f"period {number}": [probe for probe in probes if probe.checkpoint == number]
        for number in range(CHECKPOINTS)
    }
    return [
        probe_score(context, "accuracy", members, values, slice_name=name) for name, members in slices.items()
    ]


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))


def _cpu(work: Callable[[], Report]) -> tuple[float, Report]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
