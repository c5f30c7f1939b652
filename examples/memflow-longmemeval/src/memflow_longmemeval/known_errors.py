"""The known errors of the published data: questions whose gold, evidence or wording was shown to be wrong.

The cleaned release repaired two more (ad7109d1, a3332713), which are not listed.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from memflow.benchmarks.packaged import load_yaml

Kind = Literal["wrong_gold", "wrong_evidence", "relative_date", "ambiguous"]


@dataclass(frozen=True)
class KnownError:
    """An error of a published question: its kind, who reported it, and what is wrong."""

    kind: Kind
    source: str
    text: str

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"known_errors.yaml: unknown kind {self.kind!r}. Use {', '.join(get_args(Kind))}."
            )


KNOWN_ERRORS = {
    str(question_id): KnownError(**fields)
    for question_id, fields in load_yaml("memflow_longmemeval", "known_errors.yaml").items()
}
"""The errors by question id."""
