"""The variants of metrics that tables show first under the protocol profile of a domain."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings


def variant_chooser(settings: "Settings") -> Callable[[str, str], str]:
    """Return a function from (domain, metric) to the variant that tables show first."""
    from memflow.benchmarks import registry
    from memflow.benchmarks.protocol_settings import STANDARD

    @cache
    def chosen(domain: str) -> Mapping[str, str]:
        return registry.shown_variants(settings.domain(domain)) if settings.has_domain(domain) else {}

    return lambda domain, metric: chosen(domain).get(metric, STANDARD)
