"""Licences of data sets: whether a report with their texts may be passed on."""

import re
from collections.abc import Iterable

from memflow.benchmarks.datasets import Dataset

OPEN = re.compile(r"(Apache-2\.0|MIT|BSD-\d-Clause|CC0-1\.0|CC[- ]BY(-SA)?[- ]\d\.\d)")
"""Licences that allow texts to be passed on, with attribution."""


def may_be_shared(licence: str) -> bool:
    """Return whether a licence is known to allow texts to be passed on."""
    return OPEN.fullmatch(licence.strip()) is not None


def sharing_warnings(datasets: Iterable[Dataset]) -> list[str]:
    """Return one warning per data set whose licence is not known to allow texts to be passed on."""
    return [
        f"The data set {each.name} has the licence: {each.licence}. Check that you may pass its texts on, or write "
        "the report with --without-texts."
        for each in {each.name: each for each in datasets}.values()
        if not may_be_shared(each.licence)
    ]
