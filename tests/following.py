"""Verdicts followed over checkpoints as the leaderboard does it: lake, views, sums, figures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memflow.records import Probe, Score, Verdict
from memflow.scoring.continual import CheckpointSums, continual_scores
from resources.lake import Lake
from resources.warehouse import Warehouse

Says = Callable[[Probe], float | None]


def followed(
    folder: Path, domain: str, probes: Sequence[Probe], answers: Mapping[str, Says]
) -> dict[str, dict[tuple[str, str], Score]]:
    """By assistant, the figures by metric and slice. `answers` says what an assistant's answer to a probe is worth."""
    lake = Lake(folder / "lake")
    lake.write("question.probes", domain, probes, recipe="")
    for assistant, worth in answers.items():
        rows = [_verdict(domain, assistant, probe, worth(probe)) for probe in probes if probe.split == "test"]
        lake.write("score.verdicts", f"{domain}/{assistant}", rows, recipe="")
    added = [
        CheckpointSums(**row)
        for row in Warehouse(lake, folder / "memflow.duckdb").query("continual", domain=domain)
    ]
    like = Score(
        domain=domain, assistant="", memory="", model="m", metric="", n=0, n_episodes=0, coverage=1.0, simulator="s",
        scripted=True,
    )  # fmt: skip
    return {
        assistant: {
            (figure.metric, figure.slice): figure
            for figure in continual_scores(
                [row for row in added if row.assistant == assistant], like, 0, none="none" in answers
            )
        }
        for assistant in answers
    }


def curve(figures: Mapping[tuple[str, str], Score], metric: str) -> list[float | None]:
    """A metric's values by checkpoint, in order, to 6 places."""
    found = [(name, figure) for (each, name), figure in figures.items() if each == metric and name != "all"]
    ordered = sorted(found, key=lambda one: int(one[0].removeprefix("checkpoint ")))
    return [None if figure.value is None else round(figure.value, 6) for _, figure in ordered]


def _verdict(domain: str, assistant: str, probe: Probe, value: float | None) -> Verdict:
    return Verdict(
        domain=domain, assistant=assistant, probe_id=probe.probe_id, episode_id=probe.episode_id,
        checkpoint=probe.checkpoint, dataset=probe.dataset, metric=probe.metric, value=value,
        reason="no answer" if value is None else None,
    )  # fmt: skip
