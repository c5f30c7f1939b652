"""The file format of the verdicts of one assistant in one domain, which a later run is compared with.

The file is JSON Lines in UTF-8: a header, then one verdict per line, sorted by probe, metric and variant. It has no
question, answer or gold. The header has the settings that decide whether another run is comparable.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import Probe, Verdict
from memflow.scoring.measures import VerdictValues

SUFFIX = ".jsonl"
T = TypeVar("T", bound=BaseModel)
Name = Field(max_length=1000)


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Evaluated(_Shape):
    """What was evaluated: the assistant, and all that its verdicts depend on.

    `inputs` and `settings` are names with values (assets/evaluation_inputs.py, the metadata of verdicts). `probes` is
    the content hash of all valid test probes (`probes_digest`). `health` and `health_reason` state a faulty or suspect
    memory.
    """

    memflow: str = Name
    benchmark: str = Name
    domain: str = Name
    assistant: str = Name
    model: str = Name
    scripted: bool
    inputs: dict[str, str]
    settings: dict[str, str]
    probes: str = Name
    health: str | None = Name
    health_reason: str | None = None
    run: str | None = None


class Header(Evaluated):
    """The first line of the file. `digest` is the content hash of the lines after it."""

    format: Literal["memflow verdicts"]
    version: Literal[1]
    verdicts: int = Field(ge=0)
    digest: str = Name


class VerdictLine(_Shape):
    """A verdict: one line after the header.

    `slices` has the names of the slices that the probe is in, such as `all`; `variant` the variant of the metric, such
    as its judge. `value` is null if the reply could not be graded (missing, unparsed or quarantined).
    """

    probe_id: str
    episode_id: str
    checkpoint: int
    slices: list[str]
    metric: str
    variant: str
    value: float | None = Field(allow_inf_nan=False)


class VerdictFile(_Shape):
    """The content of a file of verdicts."""

    header: Header
    lines: Sequence[VerdictLine]


def probes_digest(probes: Iterable[Probe]) -> str:
    """Return the content hash of probes: their ids, questions, options, gold and checkpoints."""
    return digest(
        sorted(
            (probe.probe_id, probe.question, list(probe.options), probe.gold, probe.checkpoint)
            for probe in probes
        )
    )


def verdict_text(
    evaluated: Evaluated, verdicts: Iterable[Verdict], slices: Mapping[str, frozenset[str]]
) -> str:
    """Return the text of a file with those verdicts whose probes are in `slices`, which are sets of probe ids."""
    names: dict[str, list[str]] = {}
    for name, members in slices.items():
        for probe in members:
            names.setdefault(probe, []).append(name)
    columns = [name for name in VerdictLine.model_fields if name != "slices"]
    lines = [
        _json(VerdictLine(slices=names[row.probe_id], **{name: getattr(row, name) for name in columns}))
        for row in sorted(verdicts, key=lambda row: (row.probe_id, row.metric, row.variant))
        if row.probe_id in names
    ]
    header = Header(
        format="memflow verdicts", version=1, **dict(evaluated), verdicts=len(lines), digest=digest(lines)
    )
    return "".join(f"{line}\n" for line in (_json(header), *lines))


def parse_verdicts(text: str, name: str) -> VerdictFile:
    """Return the content of a file. Raises BadInput with the name, the line and the reason for a damaged one."""
    header_line, *verdict_lines = text.splitlines() or [""]
    lines = [line for line in verdict_lines if line]
    header = _parse(Header, header_line, name, 1)
    if len(lines) != header.verdicts:
        raise BadInput(
            f"{name} is damaged: it has {len(lines):,} verdicts, but its first line states {header.verdicts:,}. Export "
            "it again with `memflow export verdicts`."
        )
    if digest(lines) != header.digest:
        raise BadInput(
            f"{name} is damaged: the verdicts do not match the content hash in the first line. Export it again with "
            "`memflow export verdicts`."
        )
    return VerdictFile(
        header=header, lines=[_parse(VerdictLine, line, name, number) for number, line in enumerate(lines, 2)]
    )


def with_file(values: VerdictValues, file: VerdictFile, label: str, variant: str) -> VerdictValues:
    """Return the values with those of a file as the last assistant, without an oracle; NaN for a missing verdict."""
    positions = {probe.probe_id: position for position, probe in enumerate(values.probes)}
    no_values = np.full(len(positions), np.nan)
    file_values: dict[str, np.ndarray] = {}
    for line in file.lines:
        if line.variant == variant and line.value is not None and line.probe_id in positions:
            row = file_values.setdefault(line.metric, no_values.copy())
            row[positions[line.probe_id]] = line.value

    def with_row(metric: str) -> np.ndarray:
        rows = values.values.get(metric)
        if rows is None:
            rows = np.tile(no_values, (len(values.assistants), 1))
        return np.vstack([rows, file_values.get(metric, no_values)])

    return replace(
        values,
        assistants=[*values.assistants, label],
        models=[*values.models, file.header.model],
        oracles=[*values.oracles, None],
        values={metric: with_row(metric) for metric in dict.fromkeys((*values.values, *file_values))},
    )


def _json(shape: BaseModel) -> str:
    return json.dumps(shape.model_dump(), ensure_ascii=True)


def _parse(model: type[T], line: str, name: str, number: int) -> T:
    """Return a line of a file of verdicts. Raises BadInput with the line number and the field."""
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in detail["loc"])
        fault = "is no file of verdicts" if number == 1 else "is damaged"
        raise BadInput(
            f"{name} {fault}: line {number}{f', {field}' if field else ''}: {detail['msg']}. Write one with "
            "`memflow export verdicts DOMAIN ASSISTANT FILE`."
        ) from error
