"""Verdicts followed over checkpoints as the leaderboard does it: lake, views, sums, figures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from factories import metric_context, verdict

from memflow.records import Probe, Score
from memflow.scoring.continual import CheckpointSums, continual_scores
from resources.lake import Lake
from resources.warehouse import Warehouse

Says = Callable[[Probe], float | None]


def followed(
    folder: Path, domain: str, probes: Sequence[Probe], answers: Mapping[str, Says]
) -> dict[str, dict[tuple[str, str], Score]]:
    """By assistant, the figures by metric and slice. `answers` says what an assistant's answer to a probe is worth."""
    lake = Lake(folder / "lake")
    lake.write("question.probes", domain, probes, fingerprint="")
    for assistant, worth in answers.items():
        rows = [
            verdict(
                domain=domain, assistant=assistant, probe_id=probe.probe_id, episode_id=probe.episode_id,
                checkpoint=probe.checkpoint, dataset=probe.dataset, metric=probe.metric, value=value,
                reason="no answer" if value is None else None,
            )
            for probe in probes
            if probe.split == "test"
            for value in (worth(probe),)
        ]  # fmt: skip
        lake.write("score.verdicts", f"{domain}/{assistant}", rows, fingerprint="")
    added = [
        CheckpointSums(**row)
        for row in Warehouse(lake, folder / "memflow.duckdb").query("continual", domain=domain)
    ]
    return {
        assistant: {
            (figure.metric, figure.slice): figure
            for figure in continual_scores(
                [row for row in added if row.assistant == assistant],
                metric_context(domain=domain),
                none="none" in answers,
            )
        }
        for assistant in answers
    }


def curve(figures: Mapping[tuple[str, str], Score], metric: str) -> list[float | None]:
    """A metric's values by checkpoint, in order, to 6 places."""
    found = [(name, figure) for (each, name), figure in figures.items() if each == metric and name != "all"]
    ordered = sorted(found, key=lambda one: int(one[0].removeprefix("checkpoint ")))
    return [None if figure.value is None else round(figure.value, 6) for _, figure in ordered]
