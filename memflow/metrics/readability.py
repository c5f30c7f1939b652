"""Readability of an English text, as school grades: Coleman-Liau, Flesch-Kincaid, Dale-Chall (SciTechNews, A.1.1).

Lower is easier. Words, sentences, letters, the list of easy words and hyphenation are textstat's, so that figures are
those of textstat 0.7.13; it is pinned, since its rules changed between versions. Its formulas for the last two would
download a pronouncing dictionary. They stand here instead, and the dictionary is handed in, as data
(resources/pronunciations.py).
"""

from collections.abc import Mapping

from memflow.metrics.result import MetricResult

CLI, FKGL, DCRS = "cli", "fkgl", "dcrs"
"""The metrics' names."""

Syllables = Mapping[str, int]
"""Syllables of a word in lower case, by its first pronunciation in the CMU dictionary."""

NOT_ENGLISH = "readability is measured of English alone"
NO_SYLLABLES = (
    "there is no pronouncing dictionary to count syllables by; set `cmudict` in memflow.toml (MEMFLOW_CMUDICT) "
    "to a file cmudict.dict"
)


def coleman_liau(text: str, language: str = "en") -> MetricResult:
    """CLI, of letters and sentences per 100 words; 0 for a text without words."""
    if language != "en":
        return MetricResult(None, NOT_ENGLISH)
    from textstat.backend import metrics  # noqa: PLC0415  (it imports nltk, for a second)

    return MetricResult(float(metrics.coleman_liau_index(text)))


def flesch_kincaid(text: str, syllables: Syllables | None, language: str = "en") -> MetricResult:
    """FKGL, of words per sentence and syllables per word; 0 for a text without words.

    A word that the dictionary does not know has a syllable for each part it can be hyphenated into.
    """
    if language != "en":
        return MetricResult(None, NOT_ENGLISH)
    if syllables is None:
        return MetricResult(None, NO_SYLLABLES)
    from textstat.backend import metrics, selections, utils  # noqa: PLC0415  (it imports nltk, for a second)

    words = selections.list_words(text, lowercase=True)
    if not words:
        return MetricResult(0.0)
    hyphens = utils.get_pyphen("en_US")
    spoken = sum(syllables[word] if word in syllables else len(hyphens.positions(word)) + 1 for word in words)
    return MetricResult((0.39 * metrics.words_per_sentence(text)) + (11.8 * (spoken / len(words))) - 15.59)


def dale_chall(text: str, language: str = "en") -> MetricResult:
    """DCRS, of the share of words that are not on Dale and Chall's list and of words per sentence; 0 for a text
    without words.

    As in textstat, an inflected form that is not on the list itself counts as difficult, and so does a name.
    """
    if language != "en":
        return MetricResult(None, NOT_ENGLISH)
    from textstat.backend import metrics, selections, utils  # noqa: PLC0415  (it imports nltk, for a second)

    words = selections.list_words(text)
    if not words:
        return MetricResult(0.0)
    easy = utils.get_lang_easy_words("en")
    difficult = 100 * sum(word.lower() not in easy for word in words) / len(words)
    score = (0.1579 * difficult) + (0.0496 * metrics.words_per_sentence(text))
    return MetricResult(score + 3.6365 if difficult > 5 else score)
