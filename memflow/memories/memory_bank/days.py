"""Which day a message was said on: the simulated date, without its time of day.

Dates are free text (`1:56 pm on 8 May, 2023`, `2024-10-01 08:13`, `2024年10月1日 8点13分`), so nothing is parsed
into a calendar: what is left without the time of day is compared, and is all that a day is.
"""

import re

_CLOCK = re.compile(
    r"""
    (?:(?<=\d)T)?                                              # the T of 2024-10-01T08:13
    (?:
        \d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]\.?m\b\.?)?  # 08:13, 8:13:05 pm
      | \d{1,2}\s*[ap]\.?m\b\.?                               # 8 pm
      | (?:凌晨|早上|上午|中午|下午|晚上)?\s*\d{1,2}\s*[点时](?:\s*\d{1,2}\s*分)?(?:\s*\d{1,2}\s*秒)?
    )
    (?:\s*(?:Z\b|UTC|GMT|[+-]\d{2}:?\d{2}\b))?                # a zone
    (?:\s*on\b)?                                              # the on of 1:56 pm on 8 May
    """,
    re.VERBOSE | re.IGNORECASE,
)


def day_of(sent_at: str | None) -> str | None:
    """`8 May, 2023` of `1:56 pm on 8 May, 2023`; None where there is no date."""
    if sent_at is None:
        return None
    return " ".join(_CLOCK.sub(" ", sent_at).replace("'", " ").split()).strip(" ,;") or None
