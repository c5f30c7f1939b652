"""Reader of published noise (MakeNoise/NoiseMeta): units of a few steps about unrelated topics."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from memflow.benchmarks.membench.kinds import Scene
from memflow.benchmarks.membench.published.questions import PublishedModel
from memflow.benchmarks.membench.published.release import PublishedStep
from memflow.benchmarks.membench.turns import NOISE, Step
from memflow.benchmarks.published_file import File, valid_records
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.records import Record


class _Unit(PublishedModel):
    noise_message: Annotated[list[PublishedStep], Field(min_length=1)]


def read(file: File) -> Iterator[RawRecord]:
    """Yield each noise unit in a file. Units of another scene than the first valid unit are invalid.

    Raises BadInput for an invalid file.
    """
    scene: Scene | None = None

    def parse(content: Any) -> tuple[str, Any]:
        nonlocal scene
        scenes = {step.scene for step in _Unit.model_validate(content).noise_message}
        scene = scene or next(iter(scenes))
        if scenes != {scene}:
            raise RecordFault(f"some steps do not belong to the scene {scene} of the file's first unit")
        return "", content

    for number, raw in enumerate(parse_records(file.json_items("noise unit"), parse)):
        yield raw if raw.fault else replace(raw, record_id=f"{NOISE}/{scene}/{number}")


def published_units(records: Sequence[Record], scene: Scene | None = None) -> dict[str, tuple[Step, ...]]:
    """Return the steps of the noise units in the records, by unit id, for one scene or both."""
    wanted = f"{NOISE}/{scene}/" if scene else f"{NOISE}/"
    return {
        record.record_id.removeprefix(f"{NOISE}/").replace("/", "-"): _steps(record)
        for record in valid_records(records)
        if record.record_id.startswith(wanted)
    }


def _steps(record: Record) -> tuple[Step, ...]:
    number = int(record.record_id.rpartition("/")[2])
    said = _Unit.model_validate_json(record.content).noise_message
    return tuple(Step(*each.texts(), session=number, noise=True) for each in said)
