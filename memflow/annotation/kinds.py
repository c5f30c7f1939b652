"""Finding the kinds of items that a benchmark declares for annotation (`spec.annotation`)."""

from memflow.annotation.kind import Kind
from memflow.benchmarks import registry
from memflow.errors import BadSettings
from memflow.suggestions import unknown_name


def kind_of(benchmark: str, name: str) -> Kind:
    """Return a kind of items by name. Raises BadSettings if the benchmark has none of that name."""
    kinds = registry.annotation_kinds(benchmark)
    if not kinds:
        others = [spec.name for spec in registry.specs() if spec.annotation]
        raise BadSettings(
            f"{benchmark} has no items to annotate. Benchmarks with such items: {', '.join(others)}"
        )
    if name not in kinds:
        raise BadSettings(unknown_name(f"{benchmark} kind of items", name, kinds))
    return kinds[name]
