"""Texts about data missing from results: data sets, units beyond a limit, quarantined or failed rows, and messages that
did not fit into a prompt.

resources/publishing/completeness.py counts rows. The column `incomplete` of the leaderboard contains these texts, so
that every view of scores can show them.
"""

from collections.abc import Iterable, Iterator

from memflow.records import Score

INCOMPLETE = "incomplete"
"""The metadata key of a partition that states what it lacks."""


def gap_meta(gap: str | None) -> dict[str, str]:
    """Return a text on missing data as metadata of a partition; empty without one."""
    return {INCOMPLETE: gap} if gap else {}


def limit_gap(limit: int, size: int | None, unit: str) -> str | None:
    """Return a text on how many of a domain's `size` units a sample has; None if its limit selects all units."""
    if not limit or (size is not None and size <= limit):
        return None
    return f"sample of {limit:,} of {'an unknown number of' if size is None else f'{size:,}'} {unit}"


def sample_text(limit: int, unit: str, base: str) -> str:
    """Return a text on the limit of a sample, such as `at most 2 users of BASE`."""
    return f"at most {limit:,} {unit} of {base}"


def dataset_gap(missing: Iterable[str], planned: int) -> str | None:
    """Return a text on how many of `planned` data sets were read, and which are missing; None if none is missing."""
    names = list(missing)
    return f"{planned - len(names)} of {planned} data sets (without {', '.join(names)})" if names else None


def quarantine_gap(quarantined: int, rows: int, what: str, state: str = "quarantined") -> str | None:
    """Return the number of rows with a reason as text, such as `3 of 220 probes quarantined`; None for 0 rows."""
    return f"{quarantined:,} of {rows:,} {what} {state}" if quarantined else None


def truncation_gap(truncated: int, prompts: int) -> str | None:
    """Return a text on how many prompts do not contain the oldest messages; None if all prompts contain them."""
    return f"{truncated:,} of {prompts:,} prompts without the oldest messages" if truncated else None


def join_gaps(gaps: Iterable[str | None]) -> str | None:
    """Return the texts on missing data as one text; None if there are none."""
    return "; ".join(gap for gap in gaps if gap) or None


def incomplete_results(scores: Iterable[Score]) -> list[str]:
    """Return one line for each text on missing data in the scores (see `gap_lines`)."""
    return list(gap_lines((score.domain, score.assistant, score.incomplete) for score in scores))


def gap_lines(results: Iterable[tuple[str, str, str | None]]) -> Iterator[str]:
    """Yield a line `DOMAIN (assistants): gap` for each distinct gap in (domain, assistant, gap) triples.

    A gap is a text on missing data. The assistants are omitted if all assistants of the domain have the gap.
    """
    gaps: dict[str, dict[str, str | None]] = {}
    for domain, assistant, gap in results:
        gaps.setdefault(domain, {})[assistant] = gap
    for domain, gap_of_assistant in gaps.items():
        distinct_gaps = dict.fromkeys(gap for gap in gap_of_assistant.values() if gap)
        for gap in distinct_gaps:
            names = [name for name, gap_of_name in gap_of_assistant.items() if gap_of_name == gap]
            assistants = "" if len(names) == len(gap_of_assistant) else f" ({', '.join(names)})"
            yield f"{domain}{assistants}: {gap}"
