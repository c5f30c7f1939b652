"""AWI whose list of kinds of information evolves (AMemGym, section 5 and appendix E): one file beside AWI's own."""

from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.awi.memory import Awi
from memflow.memories.evolving import Evolving


@dataclass
class EvolvingAwi(Evolving, Awi):
    """AWI that writes by the policy in force; `kinds` is the first. What it holds and recalls is AWI's."""

    asks: ClassVar[tuple[str, ...]] = ("update", "evolve")

    @property
    def first(self) -> tuple[str, ...]:
        """The kinds that it is given as a parameter."""
        return self.kinds

    def keeping(self) -> tuple[str, ...]:
        """The policy in force."""
        return self.policy
