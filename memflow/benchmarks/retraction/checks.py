"""The checks of generated probes: golds recomputed from messages, and answers that only a memory gives away."""

from collections import Counter
from collections.abc import Sequence

from memflow.benchmarks.retraction.examination import examine, gold_text
from memflow.benchmarks.retraction.load import shipped_words
from memflow.checks.rules import AcrossTables, Expectation, Findings, WholeTable
from memflow.records import Probe, Turn

ASKED = ("choice", "open")
TOLERANCE = 0.05
"""How much more often than by chance a constant guess may be right."""


def find_wrong_golds(probes: Sequence[Probe], turns: Sequence[Turn]) -> Findings:
    """Return the probes whose gold differs from the answer that the examiner reads in the messages, with the reason."""
    asked = {at: probe for at, probe in enumerate(probes) if probe.reason is None and probe.kind in ASKED}
    outcomes = examine(list(asked.values()), turns, shipped_words())
    unread = 0
    found = Findings()
    for (at, probe), outcome in zip(asked.items(), outcomes, strict=True):
        unread += outcome.answer is None
        if outcome.answer is not None and outcome.answer != gold_text(probe):
            found[at] = f"gold {gold_text(probe)!r}, recomputed {outcome.answer!r} from the messages"
    found.note = f"{len(asked) - unread} of {len(asked)} probes examined, {unread} not read"
    return found


def find_guessable_answers(probes: Sequence[Probe]) -> Findings:
    """Return the probes of a size whose gold a constant guess finds too often: a position, or `I can't answer that`."""
    found, notes = Findings(), []
    for size in sorted({len(probe.options) for probe in probes if probe.options}):
        members = {
            at: probe
            for at, probe in enumerate(probes)
            if len(probe.options) == size and probe.reason is None
        }
        guesses = {
            "an option's position": Counter(probe.gold for probe in members.values()),
            "an option's text": Counter(
                gold_text(probe) for probe in members.values() if not _is_value(probe)
            ),
        }
        for what, counts in guesses.items():
            share = max(counts.values(), default=0) / len(members)
            notes.append(f"{what}, {size} options: {share:.3f}, chance {1 / size:.3f}, n {len(members)}")
            # Few probes vary: three standard errors more are allowed.
            if share > 1 / size + TOLERANCE + 3 * (0.25 / len(members)) ** 0.5:
                found.update(dict.fromkeys(members, f"{what} is right in {share:.0%} of the probes"))
    found.note = "; ".join(notes)
    return found


def _is_value(probe: Probe) -> bool:
    """Return whether the gold is a value of a fact, which a constant guess cannot name."""
    return probe.variants[int(probe.gold) - 1] not in ("[null]",) and len(probe.options) != 3


EXPECTED = (
    Expectation(
        "question.probes",
        "gold_of_what_is_taken_back_recomputed_from_messages",
        AcrossTables(("question.probes", "utterance.turns"), find_wrong_golds),
        text="An examiner that does not know the plans recomputes the gold of each probe from the messages alone.",
    ),
    Expectation(
        "question.probes",
        "no_constant_guess_beats_chance",
        WholeTable(find_guessable_answers),
        text="No constant guess, of a position or of a text such as `I can't answer that`, is right more often "
        "than by chance.",
    ),
)
