"""Protocol profiles in commands: domains under a profile, and the variants of metrics that their tables show."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from memflow.errors import BadSettings
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from resources.settings.settings import Settings


def profiled_domains(settings: "Settings", names: Sequence[str], profile: str) -> list[str]:
    """Return the names of domains under a protocol profile.

    Raises BadSettings for an unknown profile, for a benchmark without protocol points, and for a domain that has
    another profile.
    """
    from memflow.benchmarks import registry
    from memflow.benchmarks.domain_names import DEFAULT_PROFILE, PROFILES, DomainName

    domain_profile = next((known for known in PROFILES if known == profile), None)
    if domain_profile is None:
        raise BadSettings(unknown_name("profile", profile, PROFILES))
    found = []
    for name in names:
        domain = settings.domain(name)
        if domain.profile == profile:
            found.append(name)
        elif domain.profile != DEFAULT_PROFILE:
            raise BadSettings(
                f"the domain {name} has the profile {domain.profile}, but --profile is {profile}. Use the domain "
                "without a profile, or remove --profile."
            )
        elif not registry.protocol(domain.benchmark).points:
            raise BadSettings(
                f"the benchmark {domain.benchmark} of the domain {name} declares no protocol points, so it has no "
                f"profile {profile}. Select other domains with --domain, or remove --profile."
            )
        else:
            found.append(str(DomainName.parse(name)._replace(profile=domain_profile)))
    return found


def variant_chooser(settings: "Settings") -> Callable[[str, str], str]:
    """Return a function from (domain, metric) to the variant that tables show first."""
    from memflow.benchmarks import registry
    from memflow.benchmarks.protocol_settings import STANDARD

    @cache
    def chosen(domain: str) -> Mapping[str, str]:
        return registry.shown_variants(settings.domain(domain)) if settings.has_domain(domain) else {}

    return lambda domain, metric: chosen(domain).get(metric, STANDARD)
