"""The noise of scores as text. noise.py computes it; this module imports no arrays, so that commands start quickly."""

from collections.abc import Sequence

from memflow.records import Score

_WHAT = {"run": "the run", "answers": "the answers", "judge": "the judge"}


def noise_text(score: Score, *, interval: bool = False) -> str:
    """Return the noise of a score as text, such as `±0.006 (5)` with the number of evaluations; "" without repeats.

    With `interval`, its 95 % interval follows the noise.
    """
    if score.noise is None:
        return ""
    limits = f" [{score.noise_low:.3f} {score.noise_high:.3f}]" if interval else ""
    return f"±{score.noise:.3f}{limits} ({score.repeats})"


def noise_notes(scores: Sequence[Score]) -> list[str]:
    """Return the sentence that explains the noise beside scores; empty without repeats."""
    kinds = dict.fromkeys(score.repeats_of for score in scores if score.noise is not None)
    return [
        f"\n±: standard deviation between repeats of {_WHAT[kind]}, pooled over assistants, and the number of "
        "evaluations. `memflow show noise` lists it."
        for kind in kinds
        if kind is not None
    ]
