"""Published values: the rows of `paper.csv`, which a benchmark's package has for its paper."""

import csv
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from memflow.errors import BadInput

KEY = ("table", "system", "model", "slice", "metric")
COLUMNS = (*KEY, "value", "source", "note")


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A value as the paper prints it. `note` states what is known to be wrong with it, or is empty."""

    table: str
    system: str
    model: str
    slice: str
    metric: str
    value: str
    source: str
    note: str

    @property
    def number(self) -> float | None:
        """The value as a number; None for a bound such as `<0.001`."""
        try:
            return float(self.value)
        except ValueError:
            return None


@cache
def read_values(package: str) -> tuple[PublishedValue, ...]:
    """Return the rows of a package's `paper.csv`. Raises BadInput for wrong columns, and for two values of a key."""
    rows = csv.DictReader(
        io.StringIO(files(package).joinpath("paper.csv").read_text(encoding="utf-8")), strict=True
    )
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise BadInput(
            f"paper.csv of {package} has the columns {rows.fieldnames}. Use: {', '.join(COLUMNS)}."
        )
    values: dict[tuple[str, ...], PublishedValue] = {}
    for number, row in enumerate(rows, 2):
        key = tuple(row[name] for name in KEY)
        if None in row or None in row.values() or key in values:
            fault = "is there twice" if key in values else "has another number of fields"
            raise BadInput(f"paper.csv of {package}, line {number}: the row {key} {fault}. Fix the line.")
        values[key] = PublishedValue(**row)
    return tuple(values.values())
