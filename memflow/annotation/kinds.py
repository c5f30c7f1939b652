"""Look-up of the kinds of annotation items that a benchmark declares in `spec.annotation`."""

from memflow.annotation.kind import Kind
from memflow.benchmarks import registry
from memflow.errors import BadSettings
from memflow.suggestions import unknown_name


def kind_of(benchmark: str, name: str) -> Kind:
    """Return a benchmark's kind of annotation items by name. Raises BadSettings for an unknown name."""
    kinds = registry.annotation_kinds(benchmark)
    if not kinds:
        others = [spec.name for spec in registry.specs() if spec.annotation]
        raise BadSettings(
            f"{benchmark} has no items to annotate. Choose a domain of one of: {', '.join(others)}"
        )
    if name not in kinds:
        raise BadSettings(unknown_name(f"{benchmark} kind of items", name, kinds))
    return kinds[name]
