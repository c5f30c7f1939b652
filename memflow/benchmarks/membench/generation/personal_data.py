"""Synthetic personal data in reserved ranges, which belong to no real person.

phone   555-0100 to 555-0199, reserved for fiction; Chinese subscriber numbers that begin with 0
email   below .example, example.com, example.org, example.net (RFC 2606)
"""

import random

from memflow.benchmarks.membench.generation.vocabulary import Language

_MAILS = ("example.com", "example.org", "example.net")
CONTACT_ATTRIBUTES = ("phone", "email")
"""Attributes of every person."""


def sample_phone(rng: random.Random, area: str, language: Language) -> str:
    """Return a random phone number in a reserved range."""
    if language == "zh":
        return f"{area}-0{rng.randrange(10**7):07}"
    return f"{area}-555-01{rng.randrange(100):02}"


def sample_email(rng: random.Random, local: str, employer: str) -> str:
    """Return a random e-mail address in a reserved domain, named after the employer or a provider."""
    return f"{local}@{rng.choice((f'{employer}.example', f'{employer}.example', *_MAILS))}"
