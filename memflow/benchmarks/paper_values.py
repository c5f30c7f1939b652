"""Published values: the rows of `paper.csv`, which a benchmark's package has for its paper."""

import csv
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

KEY = ("table", "system", "model", "slice", "metric")


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
    """Return the rows of a package's `paper.csv`, whose columns are the fields of `PublishedValue`."""
    text = files(package).joinpath("paper.csv").read_text(encoding="utf-8")
    return tuple(PublishedValue(**row) for row in csv.DictReader(io.StringIO(text), strict=True))
