"""Selection of the solver of a question by the cues in its text."""

from memflow.benchmarks.membench.examination.computations import (
    comparison_gold,
    count_gold,
    shared_place_gold,
)
from memflow.benchmarks.membench.examination.facts import attribute_gold
from memflow.benchmarks.membench.examination.gold import Gold, UnreadError
from memflow.benchmarks.membench.examination.lexicon import lexicon
from memflow.benchmarks.membench.examination.reflections import (
    mood_gold,
    preference_gold,
    recommendation_gold,
)
from memflow.benchmarks.membench.examination.statements import Reading


def solve(question: str, reading: Reading) -> Gold:
    """Return the gold of a question. The first matching cue decides. Raises UnreadError and FaultyError."""
    words = lexicon(reading.language)
    cues = words.cues
    if match := cues.mood_asked.search(question):
        return mood_gold(match["happening"], reading, words)
    if cues.recommendations_asked.search(question):
        return recommendation_gold(question, reading, words)
    if cues.preference_asked.search(question):
        return preference_gold(question, reading, words)
    return _solve_factual(question, reading)


def _solve_factual(question: str, reading: Reading) -> Gold:
    words = lexicon(reading.language)
    for places in words.cues.compared_places:
        if places.asks.search(question):
            return shared_place_gold(places, question, reading, words)
    for comparison in words.cues.compared:
        if comparison.asks.search(question):
            return comparison_gold(comparison, question, reading, words)
    for count in words.cues.counted:
        if match := count.asks.search(question):
            return count_gold(count, match, question, reading, words)
    for asked in words.cues.asked:
        if match := asked.asks.search(question):
            return attribute_gold(asked, match, question, reading, words)
    raise UnreadError("the question contains no known cue word")
