"""Numbers, addresses and documents that would be personal data: invented, of ranges that are given to nobody.

phone           555-0100 to 555-0199, kept for fiction; a Chinese subscriber's number that begins with 0, as none does
email           below .example, example.com, example.org, example.net (RFC 2606)
id_number       a US number of area 666, never issued; a Chinese one of region 99, which no place has
passport        of Utopia (UTO), the state of ICAO's specimens
bank_account    a card whose number begins with 0000, which no bank issues, and fails its check digit
driver_licence  says that it is a specimen
"""

import random
import re

from memflow.benchmarks.membench.generation.vocabulary import Language

_MAILS = ("example.com", "example.org", "example.net")
_RESERVED = {
    "phone": r"\d{3}-555-01\d\d|0\d{2,3}-0\d{7}",
    "email": r"[a-z.]+@(?:[a-z]+\.example|example\.(?:com|org|net))",
    "id_number": r"666-\d\d-\d{4}|99\d{16}",
    "passport": r"UTO\d{7}",
    "bank_account": r"0000 \d{4} \d{4} \d{4}",
    "driver_licence": r"SPECIMEN-\d{7}",
}
CONTACT_ATTRIBUTES = ("phone", "email")
"""What every person of a life has."""
DOCUMENT_ATTRIBUTES = ("id_number", "passport", "bank_account", "driver_licence")
"""What the user has besides."""


def sample_phone(rng: random.Random, area: str, language: Language) -> str:
    """A number that reaches nobody."""
    if language == "zh":
        return f"{area}-0{rng.randrange(10**7):07}"
    return f"{area}-555-01{rng.randrange(100):02}"


def sample_email(rng: random.Random, local: str, employer: str) -> str:
    """An address at the employer's, or at a provider's."""
    return f"{local}@{rng.choice((f'{employer}.example', f'{employer}.example', *_MAILS))}"


def sample_documents(rng: random.Random, born: tuple[int, int, int], language: Language) -> dict[str, str]:
    """The user's documents. `born` is the day of birth: year, month, day."""
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


def is_reserved(attribute: str, value: str) -> bool:
    """Whether a value of personal data is of a range that is given to nobody."""
    if re.fullmatch(_RESERVED[attribute], value) is None:
        return False
    if attribute == "bank_account":
        digits = value.replace(" ", "")
        return int(digits[-1]) != _check_digit(digits[:-1])
    return True


def _check_digit(digits: str) -> int:
    """What Luhn's rule puts behind the digits."""
    doubled = (int(digit) * (2 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(digits)))
    return -sum(value // 10 + value % 10 for value in doubled) % 10
