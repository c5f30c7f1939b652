"""Which kinds of items each benchmark has. What they are is the benchmark's own; a new one is a line here."""

from collections.abc import Mapping

from memflow.annotation.kind import Kind
from memflow.benchmarks.amemgym import annotation as amemgym
from memflow.errors import BadSettings

KINDS: dict[str, Mapping[str, Kind]] = {"amemgym": amemgym.KINDS}


def kind_of(benchmark: str, name: str) -> Kind:
    """A kind of items by name. Raises BadSettings naming those that the benchmark has."""
    if benchmark not in KINDS:
        raise BadSettings(f"{benchmark} has no items to annotate; {', '.join(KINDS)} has")
    kinds = KINDS[benchmark]
    if name not in kinds:
        raise BadSettings(f"{benchmark} has no items of kind {name!r}; it has {', '.join(kinds)}")
    return kinds[name]
