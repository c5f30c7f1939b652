"""Synthetic personal data in reserved ranges, which belong to no real person.

phone           555-0100 to 555-0199, reserved for fiction; Chinese subscriber numbers that begin with 0
email           below .example, example.com, example.org, example.net (RFC 2606)
id_number       US numbers of area 666, never issued; Chinese numbers of region 99, which does not exist
passport        of Utopia (UTO), the state of ICAO's specimens
bank_account    card numbers that begin with 0000, which no bank issues, with a wrong check digit
driver_licence  marked as a specimen
"""

import random

from memflow.benchmarks.membench.generation.vocabulary import Language

_MAILS = ("example.com", "example.org", "example.net")
CONTACT_ATTRIBUTES = ("phone", "email")
"""Attributes of every person."""
DOCUMENT_ATTRIBUTES = ("id_number", "passport", "bank_account", "driver_licence")
"""Further attributes of the user."""


def sample_phone(rng: random.Random, area: str, language: Language) -> str:
    """Return a random phone number in a reserved range."""
    if language == "zh":
        return f"{area}-0{rng.randrange(10**7):07}"
    return f"{area}-555-01{rng.randrange(100):02}"


def sample_email(rng: random.Random, local: str, employer: str) -> str:
    """Return a random e-mail address in a reserved domain, named after the employer or a provider."""
    return f"{local}@{rng.choice((f'{employer}.example', f'{employer}.example', *_MAILS))}"


def sample_documents(rng: random.Random, born: tuple[int, int, int], language: Language) -> dict[str, str]:
    """Return random documents of the user. `born` is the birthday as (year, month, day)."""
    if language == "zh":
        id_number = "99{:04}{:04}{:02}{:02}{:04}".format(rng.randrange(10_000), *born, rng.randrange(10_000))
    else:
        id_number = f"666-{rng.randint(1, 99):02}-{rng.randint(1, 9999):04}"
    card = f"0000{rng.randrange(10**11):011}"
    wrong = (_check_digit(card) + rng.randint(1, 9)) % 10
    card = f"{card}{wrong}"
    return {
        "id_number": id_number,
        "passport": f"UTO{rng.randrange(10**7):07}",
        "bank_account": " ".join(card[at : at + 4] for at in range(0, 16, 4)),
        "driver_licence": f"SPECIMEN-{rng.randrange(10**7):07}",
    }


def _check_digit(digits: str) -> int:
    """Return the Luhn check digit of a number."""
    doubled = (int(digit) * (2 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(digits)))
    return -sum(value // 10 + value % 10 for value in doubled) % 10
