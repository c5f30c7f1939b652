"""Replies, claims and attributions of an assistant do not depend on how many episodes are in memory at a time."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memflow.operations.planned_runs import Outcome
from memflow.resources.lake.lake import Lake
from memflow.run import evaluation, transcripts

DOMAIN, ASSISTANT = "amemgym_demo~3", "rag_2_4_30"


@pytest.mark.pipeline
def test_rows_are_equal_if_episodes_are_read_one_by_one(
    run_in: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    histories: list[set[str]] = []
    read = evaluation.episode_histories

    def recording(entries, said, probes):
        histories.append({probe.episode_id for probe in probes})  # or of claims
        return read(entries, said, probes)

    monkeypatch.setattr(evaluation, "episode_histories", recording)
    replies, others = [], []
    for folder, at_once in (("one", 1), ("all", 64)):
        monkeypatch.setattr(transcripts, "EPISODES_AT_ONCE", at_once)
        histories.clear()
        assert run_in(tmp_path / folder, (DOMAIN,), (ASSISTANT,)).failed == []
        assert max(map(len, histories)) == min(at_once, 3)
        lake = Lake(str(tmp_path / folder / "lake"))
        others.append(
            [lake.read(table, f"{DOMAIN}/{ASSISTANT}") for table in ("score.claims", "score.attributions")]
        )
        rows = lake.read("answer.replies", f"{DOMAIN}/{ASSISTANT}")
        replies.append([(row.probe_id, row.text, row.recalled, row.completion) for row in rows])
    assert replies[0] == replies[1]
    assert len(replies[0]) > 3
    assert others[0] == others[1]
    claims, attributions = others[0]
    assert len(claims) > 3
    assert any(row.evidence for row in attributions)
