"""The metadata of a partition of the lake, as stored in the footer of its Parquet file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

import pyarrow as pa

from memflow.fingerprint import digest
from resources.lake.columns import schema

RUN = "run"
"""The metadata key of the run that wrote a partition. It is no part of any fingerprint."""
FAILED_REQUESTS = "failed_requests"
"""The metadata key of the number of failed requests behind a partition that a later run has to send again."""
META = "memflow.meta."
"""The prefix of the further values in a file's footer."""


@dataclass(frozen=True)
class Facts:
    """The metadata of a partition: content hash, input fingerprint, column hash, further values, and row counts.

    `quarantined` is the number of rows with a reason. `content` is a hash of all columns, whereas `digest` is computed
    without measured ones, such as seconds. `written` is the time of the write (ISO 8601, UTC). Files of former versions
    of memflow have neither.
    """

    digest: str
    fingerprint: str
    rows: int
    meta: Mapping[str, str] = field(default_factory=dict)
    columns: str = ""
    quarantined: int = 0
    content: str = ""
    written: str = field(default="", compare=False)

    def of_current(self, table: str) -> bool:
        """Return whether the partition has the columns that this version of memflow declares for the table."""
        return self.columns == table_columns(table)

    @property
    def run(self) -> str | None:
        """The id of the run that wrote the partition; None if no run id was stored."""
        return self.meta.get(RUN)

    @property
    def failed_requests(self) -> int:
        """The number of failed requests behind the partition that a later run has to send again."""
        return int(self.meta.get(FAILED_REQUESTS, 0))

    @property
    def since(self) -> datetime | None:
        """The time of the write, in UTC; None if a former version of memflow wrote the file."""
        return datetime.fromisoformat(self.written).astimezone(UTC) if self.written else None

    def footer(self) -> dict[str, str]:
        """Return the key-value metadata of the Parquet file."""
        return {
            "memflow.digest": self.digest,
            "memflow.input_fingerprint": self.fingerprint,
            "memflow.rows": str(self.rows),
            "memflow.quarantined": str(self.quarantined),
            "memflow.content": self.content,
            "memflow.written": self.written,
            **{f"{META}{name}": value for name, value in self.meta.items()},
        }

    @classmethod
    def of_footer(cls, stored: Mapping[bytes, bytes], found: pa.Schema, table: str) -> "Facts":
        """Return the facts in a file's footer. Raises KeyError if memflow did not write the file."""
        values = {name.decode(): value.decode() for name, value in stored.items()}
        is_current = found.remove_metadata() == schema(table)
        return cls(
            digest=values["memflow.digest"],
            fingerprint=values.get("memflow.input_fingerprint", ""),  # a former version: stale
            rows=int(values["memflow.rows"]),
            meta={name.removeprefix(META): value for name, value in values.items() if name.startswith(META)},
            columns=table_columns(table) if is_current else _columns_digest(found),
            quarantined=int(values.get("memflow.quarantined", 0)),
            content=values.get("memflow.content", ""),
            written=values.get("memflow.written", ""),
        )

    def at(self, moment: datetime) -> "Facts":
        """Return these facts with another time of the write."""
        return replace(self, written=moment.astimezone(UTC).isoformat(timespec="microseconds"))

    def after(self, former: "Facts | None") -> "Facts":
        """Return these facts with the time of the former version if nothing else differs, else with a later time."""
        if former is None or former.since is None or self.since is None:
            return self
        return self.at(
            former.since if former == self else max(self.since, former.since + timedelta.resolution)
        )


def _columns_digest(columns: pa.Schema) -> str:
    # Parquet renames the items of lists.
    lists = [each.type.value_type if pa.types.is_list(each.type) else "" for each in columns]
    types = [f"list of {of}" if of else str(each.type) for each, of in zip(columns, lists, strict=True)]
    return digest([[each.name, of, each.nullable] for each, of in zip(columns, types, strict=True)])


@cache
def table_columns(table: str) -> str:
    """Return the hash of the columns that this version of memflow declares for a table."""
    return _columns_digest(schema(table))
