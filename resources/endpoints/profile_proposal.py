"""The preset and fields of a profile that fit the observations of a model check, as TOML for memflow.toml."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from memflow.resources.endpoints.model_check import VALUES, Observation
from memflow.resources.endpoints.profiles import (
    DEFAULT,
    HOSTS,
    PRESETS,
    Preset,
    Profile,
    profile_lines,
    profile_of,
)


@dataclass(frozen=True)
class Proposal:
    """A preset, and the fields in which the endpoint differs from it."""

    preset: Preset
    fields: Mapping[str, Any]

    def profile(self) -> Profile:
        """Return the proposed profile."""
        return profile_of(self.preset, **self.fields)

    def toml(self, name: str) -> str:
        """Return the lines for [models.NAME] in memflow.toml."""
        section = f"models.{name}"
        return "\n".join([f"[{section}]", *profile_lines(section, self.profile(), self.preset)])


def propose(observations: Iterable[Observation], url: str, current: Preset = DEFAULT) -> Proposal:
    """Return the preset that contradicts the fewest observations, and the fields that it has to change.

    Ties prefer a preset of the address's host, then the preset with the best values, then `current`.
    """
    seen = {name: value for observation in observations for name, value in observation.fields.items()}
    host = urlsplit(url).hostname or ""

    def rank(preset: Preset) -> tuple[int, bool, int, bool]:
        profile = profile_of(preset)
        wrong = sum(not _fits(profile, name, value) for name, value in seen.items())
        lesser = sum(getattr(profile, name) != value for name, value in seen.items())
        return wrong, not _is_of(host, preset), lesser, preset != current

    best = min(PRESETS, key=rank)
    profile = profile_of(best)
    return Proposal(best, {name: value for name, value in seen.items() if not _fits(profile, name, value)})


def _fits(profile: Profile, name: str, accepted: Any) -> bool:
    """Return whether a profile's field has the accepted value, or one that the endpoint accepts, too."""
    value = getattr(profile, name)
    if name == "headroom":
        return bool(value >= accepted)
    if name == "schema_drop":
        return set(accepted) <= set(value)
    order = VALUES.get(name, ())
    return value == accepted or (value in order and order.index(value) > order.index(accepted))


def _is_of(host: str, preset: Preset) -> bool:
    return any(host == known or host.endswith(f".{known}") for known in HOSTS[preset])
