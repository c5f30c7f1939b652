"""What some metrics need besides two texts: a judge to ask, and resources that are not ours to ship.

A metric whose instrument is not there has no value, and says which instrument it lacks.
"""

from dataclasses import dataclass

from memflow.chat.requests import Chat


@dataclass(frozen=True)
class Instruments:
    """What there is to measure with. Each is None where it was not given."""

    judge: Chat | None = None
