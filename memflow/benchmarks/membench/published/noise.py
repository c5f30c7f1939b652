"""Reader of published noise (MakeNoise/NoiseMeta): units of a few steps about unrelated topics."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from memflow.benchmarks.membench.kinds import Scene
from memflow.benchmarks.membench.published.questions import PublishedModel
from memflow.benchmarks.membench.published.release import PublishedStep
from memflow.benchmarks.membench.turns import NOISE, Step
from memflow.benchmarks.published_file import File
from memflow.records import Record


class _Unit(PublishedModel):
    noise_message: Annotated[list[PublishedStep], Field(min_length=1)]


def read(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and content of each noise unit in a file. Raises BadInput."""
    scenes: set[Scene] = set()
    for number, raw in enumerate(file.json_list("noise units")):
        shaped = file.shaped(_Unit, raw, f"unit {number}")
        scenes |= {step.scene for step in shaped.noise_message}
        if len(scenes) > 1:
            raise file.bad(
                f"noise unit {number} contains both messages and rounds, or differs in this from the previous units"
            )
        yield f"{NOISE}/{shaped.noise_message[0].scene}/{number}", raw


def published_units(records: Sequence[Record], scene: Scene | None = None) -> dict[str, tuple[Step, ...]]:
    """Return the steps of the noise units in the records, by unit id, for one scene or both."""
    wanted = f"{NOISE}/{scene}/" if scene else f"{NOISE}/"
    return {
        record.record_id.removeprefix(f"{NOISE}/").replace("/", "-"): _steps(record)
        for record in records
        if record.record_id.startswith(wanted)
    }


def _steps(record: Record) -> tuple[Step, ...]:
    number = int(record.record_id.rpartition("/")[2])
    said = _Unit.model_validate_json(record.content).noise_message
    return tuple(Step(*each.texts(), session=number, noise=True) for each in said)
