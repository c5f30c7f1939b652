"""Hypothesis profiles: `quick` for `make test`, `thorough` for `make test-all`.

Choose one with `--hypothesis-profile` or HYPOTHESIS_PROFILE.
"""

import os

from hypothesis import settings

THOROUGH_EXAMPLES = 50
QUICK_SHARE = 4
"""The quick profile tries one example in four, but at least FEWEST."""
FEWEST = 10

settings.register_profile(
    "quick", max_examples=THOROUGH_EXAMPLES // QUICK_SHARE, deadline=None, derandomize=True
)
settings.register_profile("thorough", max_examples=THOROUGH_EXAMPLES, deadline=None, print_blob=True)


def load_profile() -> None:
    """Load the profile that HYPOTHESIS_PROFILE names; `--hypothesis-profile` overrides it."""
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def examples(number: int) -> settings:
    """Return settings that try `number` examples in the thorough profile and fewer in others."""
    profile = settings.default
    if profile.max_examples >= THOROUGH_EXAMPLES:
        return settings(profile, max_examples=number)
    return settings(profile, max_examples=min(number, max(FEWEST, number // QUICK_SHARE)))
