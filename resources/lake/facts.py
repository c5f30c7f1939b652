"""The metadata of a partition of the lake, as stored in the footer of its Parquet file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

RUN = "run"
"""The metadata key of the run that wrote a partition. It is no part of any fingerprint."""
FAILED_REQUESTS = "failed_requests"
"""The metadata key of the number of failed requests behind a partition that a later run has to send again."""
VERSIONS = ".versions"
"""The folder of kept versions, below the lake's root."""
WRITTEN = "memflow.written"
META = "memflow.meta."
"""The prefix of the further values in a file's footer."""


def time_text(moment: datetime) -> str:
    """Return a moment as it is stored in a footer: in UTC, 32 characters, in the order of time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True)
class Facts:
    """The metadata of a partition: content hash, input fingerprint, column hash, further values, and row counts.

    `quarantined` is the number of rows with a reason. `content` is a hash of all columns, whereas `digest` is computed
    without measured ones, such as seconds. `written` is the time of the write (ISO 8601, UTC).
    """

    digest: str
    fingerprint: str
    rows: int
    meta: Mapping[str, str]
    quarantined: int
    content: str
    written: str = field(compare=False)

    @property
    def run(self) -> str | None:
        """The id of the run that wrote the partition; None if no run id was stored."""
        return self.meta.get(RUN)

    @property
    def failed_requests(self) -> int:
        """The number of failed requests behind the partition that a later run has to send again."""
        return int(self.meta.get(FAILED_REQUESTS, 0))

    @property
    def since(self) -> datetime:
        """The time of the write, in UTC."""
        return datetime.fromisoformat(self.written)

    def footer(self) -> dict[str, str]:
        """Return these facts as the key-value metadata of the partition's Parquet file."""
        return {
            "memflow.digest": self.digest,
            "memflow.input_fingerprint": self.fingerprint,
            "memflow.rows": str(self.rows),
            "memflow.quarantined": str(self.quarantined),
            "memflow.content": self.content,
            WRITTEN: self.written,
            **{f"{META}{name}": value for name, value in self.meta.items()},
        }

    @classmethod
    def of_footer(cls, stored: Mapping[bytes, bytes]) -> "Facts":
        """Return the facts in a file's footer."""
        values = {name.decode(): value.decode() for name, value in stored.items()}
        return cls(
            digest=values["memflow.digest"],
            fingerprint=values["memflow.input_fingerprint"],
            rows=int(values["memflow.rows"]),
            meta={name.removeprefix(META): value for name, value in values.items() if name.startswith(META)},
            quarantined=int(values["memflow.quarantined"]),
            content=values["memflow.content"],
            written=values[WRITTEN],
        )

    def after(self, former: "Facts | None") -> "Facts":
        """Return these facts with the time of the former version if nothing else differs, else with a later time."""
        if former is None:
            return self
        if former == self:
            return replace(self, written=former.written)
        later = time_text(former.since + timedelta.resolution)
        return replace(self, written=max(self.written, later))
