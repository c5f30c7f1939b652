"""Import of a recorded run with its verdicts, as the published code writes them. memflow asks no judge.

A run has the sessions of a user with what was extracted, found and answered. Verdicts are the four lists of records
that eval/evaluation.py aggregates. Both are JSON or JSON Lines, in a folder or one file. Scores may be texts, and the
inclusion of a text any value, of which only the strings "true" and "True" count.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem import names
from memflow.benchmarks.halumem.aggregate import GROUPS, is_included
from memflow.benchmarks.halumem.attribution import stage_verdicts
from memflow.benchmarks.halumem.judging import Decision, decided, integrity_values, result_values, undecided
from memflow.benchmarks.halumem.load import INTERFERENCE
from memflow.benchmarks.halumem.probes import TEXTS, source_of
from memflow.benchmarks.published_results import stored_probes
from memflow.benchmarks.verdicts import verdict_rows
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.errors import BadInput
from memflow.records import Probe, Reply
from memflow.run.unasked import DECLARED, RECALLED

MISSING = "the recorded run has no verdict"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_SCORES: dict[Any, int] = {score: score for score in range(3)} | {str(score): score for score in range(3)}
_ORIGINS = {"written": DECLARED, "search": RECALLED}
Key = tuple[str, int, str]
"""The user, the session, and the text of a point, a question or an extracted memory."""


def import_results(reader: Reader, domain: Domain, path: Path) -> ImportedResults:
    """Return a recorded run as replies and verdicts of the assistant `imported_SYSTEM@unknown`. Raises BadInput."""
    probes = stored_probes(reader, domain)
    run = RecordedRun.read(path)
    users = {probe.episode_id for probe in probes}
    if not users & run.users:
        raise BadInput(
            f"none of the {len(run.users)} users in {path} is a user of {domain.name}. Use the domain of the users "
            "that the run was recorded with."
        )
    name = _NOT_IN_NAMES.sub("-", run.system or path.stem)
    rows = _Rows(domain, f"imported_{name}@unknown", run)
    replies = [rows.reply(probe) for probe in probes]
    decisions = [chain.from_iterable(rows.decisions(probe)) for probe in probes]
    judged = verdict_rows(domain, rows.assistant, probes, decisions)
    contexts = {
        probe.probe_id: run.sessions.get((probe.episode_id, probe.checkpoint), {})
        .get("contexts", {})
        .get(probe.question)
        for probe in probes
    }
    return ImportedResults(
        assistant=rows.assistant,
        model="unknown",
        source=f"recorded run and verdicts of {run.system or path.name}, content hash {run.digest}",
        settings={"system": run.system},
        replies=replies,
        verdicts=[*judged, *stage_verdicts(probes, judged, lambda probe: contexts.get(probe.probe_id))],
        faults=[
            *run.faults,
            *(f"user {user} is not a user of {domain.name}" for user in sorted(run.users - users)),
        ],
    )


@dataclass
class RecordedRun:
    """What the files of a run contain: sessions by user and number, and verdicts by key."""

    system: str = ""
    digest: str = ""
    sessions: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    verdicts: dict[str, dict[Key, list[Mapping[str, Any]]]] = field(
        default_factory=lambda: {name: defaultdict(list) for name in GROUPS}
    )
    faults: list[str] = field(default_factory=list)

    @property
    def users(self) -> set[str]:
        """The users with sessions or verdicts."""
        judged = {user for part in self.verdicts.values() for user, _, _ in part}
        return judged | {user for user, _ in self.sessions}

    @classmethod
    def read(cls, path: Path) -> "RecordedRun":
        """Read a file, or the files of a folder. Raises BadInput if there is no verdict."""
        files = [path] if path.is_file() else sorted([*path.glob("*.json"), *path.glob("*.jsonl")])
        run, content = cls(), hashlib.sha256()
        for file in files:
            used = False
            for where, value in _values(file, run.faults):
                used |= run._add(value, where)
            if used:
                content.update(file.read_bytes())
        if not any(run.verdicts.values()):
            raise BadInput(
                f"{path} has no verdicts: a JSON object with the lists {', '.join(GROUPS)}. Use the folder of a run "
                "that HaluMem's evaluation script has scored."
            )
        run.digest = content.hexdigest()[:16]
        return run

    def _add(self, value: Any, where: str) -> bool:
        """Add the sessions or verdicts of a JSON object. Return whether it has any."""
        if not isinstance(value, dict):
            return False
        used = False
        for name in GROUPS:
            for number, row in enumerate(value.get(name) or ()):
                try:
                    text = row["question"] if name == GROUPS[3] else row["memory_content"]
                    self.verdicts[name][str(row["uuid"]), int(row["ssession_id"]), str(text)].append(row)
                    used = True
                except (KeyError, TypeError, ValueError) as wrong:
                    self.faults.append(f"{where}, {name} {number}: no uuid, ssession_id or text ({wrong!r})")
        for number, session in enumerate(value.get("sessions") or ()):
            if isinstance(session, dict) and "extracted_memories" in session:
                at = session.get("session_index", number)
                self.sessions[str(value.get("uuid")), int(at)] = _session(session)
                self.system = self.system or str(value.get("system") or "")
                used = True
        return used


def _values(file: Path, faults: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the JSON values of a file with their locations; an invalid one is a fault."""
    text = file.read_text(encoding="utf-8", errors="replace")
    parts = enumerate(text.split("\n"), 1) if file.suffix == ".jsonl" else iter([(0, text)])
    for number, part in parts:
        where = f"{file.name}, line {number}" if number else file.name
        if part.strip():
            try:
                yield where, json.loads(part)
            except (ValueError, RecursionError) as wrong:
                faults.append(f"{where}: invalid JSON ({wrong})")


def _session(session: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a session extracted, what was found for its updates by number, and its contexts and answers."""
    found = {
        str(row.get("memory_content") or row.get("index")): list(map(str, row["memories_from_system"]))
        for name in ("update_retrievals", "memory_points")
        for row in session.get(name) or ()
        if isinstance(row, dict) and isinstance(row.get("memories_from_system"), list)
    }
    answers = [
        row
        for name in ("qa", "questions")
        for row in session.get(name) or ()
        if isinstance(row, dict) and "question" in row
    ]
    return {
        "texts": [str(text) for text in session["extracted_memories"] or ()],
        "found": found,
        "answers": {row["question"]: row.get("system_response") for row in answers},
        "contexts": {row["question"]: str(row.get("context") or "").split("\n") for row in answers},
    }


@dataclass(frozen=True)
class _Rows:
    """The rows of an imported run."""

    domain: Domain
    assistant: str
    run: RecordedRun

    def reply(self, probe: Probe) -> Reply:
        """Return the recorded reply to a probe, or one with the reason why there is none."""
        session = self.run.sessions.get((probe.episode_id, probe.checkpoint))
        text, parsed, reason = None, None, probe.reason or "the recorded run has no such session or answer"
        if session is not None and probe.kind == "open":
            text = parsed = session["answers"].get(probe.question)
        elif session is not None:
            texts = session["texts"] if probe.kind == "written" else self._found(probe, session)
            text, parsed = json.dumps(texts, ensure_ascii=False), _ORIGINS[probe.kind]
        return Reply(
            domain=self.domain.name,
            assistant=self.assistant,
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=probe.checkpoint,
            text=text,
            parsed=parsed,
            recalled=[],
            recalled_sources=[],
            attempts=int(probe.kind == "open" and text is not None),
            reason=reason if text is None or probe.reason else None,
        )

    def _found(self, probe: Probe, session: Mapping[str, Any]) -> list[str]:
        rows = self._records(GROUPS[2], probe, probe.gold)
        index = str(rows[0].get("index")) if rows else ""
        found: list[str] = session["found"].get(probe.gold) or session["found"].get(index) or []
        return found

    def _records(self, group: str, probe: Probe, text: str) -> list[Mapping[str, Any]]:
        return self.run.verdicts[group].get((probe.episode_id, probe.checkpoint, text), [])

    def decisions(self, probe: Probe) -> Iterator[Decision]:
        """Yield the recorded decisions on a probe."""
        if probe.category == TEXTS:
            yield from self._texts(probe)
            return
        if probe.kind == "open":
            rows = self._records(GROUPS[3], probe, probe.question)
            yield _result(probe, rows, "result_type", names.ANSWER)
            return
        rows = self._records(GROUPS[0], probe, probe.gold)
        moved = probe.kind == "search" and bool(rows)
        if moved:
            yield decided(result_values("Omission", names.UPDATE_RESULTS))
        elif probe.kind == "search":
            rows = self._records(GROUPS[2], probe, probe.gold)
            yield _result(probe, rows, "memory_update_type", names.UPDATE_RESULTS)
            return
        false = probe.metric == names.RESISTANCE or (moved and source_of(probe) == INTERFERENCE)
        score = rows[0].get("memory_integrity_score") if rows else None
        values = integrity_values(_known(score) or 0, false)
        variant = names.PUBLISHED if moved else names.STANDARD
        if _known(score) is None or probe.reason:
            yield undecided([*values], _reason(probe, rows, score), variant)
        else:
            yield decided(values, variant)

    def _texts(self, probe: Probe) -> Iterator[Decision]:
        rows = [
            row
            for (user, session, _), of_text in self.run.verdicts[GROUPS[1]].items()
            if (user, session) == (probe.episode_id, probe.checkpoint)
            for row in of_text
        ]
        scores = [_known(row.get("memory_accuracy_score")) for row in rows]
        known = [score / 2 for score in scores if score is not None]
        if known:
            yield decided({names.ACCURACY: sum(known) / len(known)})
        else:
            yield undecided([names.ACCURACY], "no text of the session has a recorded verdict")
        for number, (row, score) in enumerate(zip(rows, scores, strict=True), 1):
            variant = f"{names.TEXT}{number}"
            reason = _reason(probe, rows, row.get("memory_accuracy_score"))
            if score is None:
                yield undecided([names.ACCURACY], reason, variant)
            else:
                yield decided({names.ACCURACY: score / 2}, variant)
            yield decided({names.INCLUDED: float(is_included(row))}, variant)


def _known(score: Any) -> int | None:
    """Return a recorded score of 0 to 2, which may be a text; None for anything else."""
    return _SCORES.get(score) if type(score) in (int, float, str) else None


def _reason(probe: Probe, rows: Sequence[Any], recorded: Any) -> str:
    return probe.reason or (f"the recorded verdict is {recorded!r}" if rows else MISSING)


def _result(
    probe: Probe, rows: Sequence[Mapping[str, Any]], field: str, results: Mapping[str, str]
) -> Decision:
    result = rows[0].get(field) if rows else None
    if result not in [*results] or probe.reason:
        return undecided([*results.values()], _reason(probe, rows, result))
    return decided(result_values(str(result), results))
