"""Readability of English text as school grades: Coleman-Liau, Flesch-Kincaid, Dale-Chall (SciTechNews, A.1.1).

Lower values mean easier text. Words, sentences and hyphenation are those of textstat 0.7.13. The pronouncing
dictionary, which textstat would download, is an argument (resources/metric_backends/pronunciations.py).
"""

from collections.abc import Mapping

from memflow.metrics.result import MetricResult

CLI, FKGL, DCRS = "cli", "fkgl", "dcrs"
"""Names of the metrics."""

Syllables = Mapping[str, int]
"""Syllables per lower-case word, by its first pronunciation in the CMU dictionary."""

NO_SYLLABLES = (
    "there is no pronouncing dictionary to count syllables by; set `cmudict` in memflow.toml (MEMFLOW_CMUDICT) "
    "to a file cmudict.dict"
)


def coleman_liau(text: str) -> MetricResult:
    """Return the Coleman-Liau index (CLI), from letters and sentences per 100 words; 0 for an empty text."""
    from textstat.backend import metrics  # noqa: PLC0415  (it imports nltk, for a second)

    return MetricResult(float(metrics.coleman_liau_index(text)))


def flesch_kincaid(text: str, syllables: Syllables | None) -> MetricResult:
    """Return the Flesch-Kincaid grade level (FKGL), from words per sentence and syllables per word; 0 for an empty
    text.

    A word that is not in the dictionary counts one syllable for each part into which it can be hyphenated.
    """
    if syllables is None:
        return MetricResult(None, NO_SYLLABLES)
    from textstat.backend import metrics, selections, utils  # noqa: PLC0415  (it imports nltk, for a second)

    words = selections.list_words(text, lowercase=True)
    if not words:
        return MetricResult(0.0)
    hyphens = utils.get_pyphen("en_US")
    spoken = sum(syllables[word] if word in syllables else len(hyphens.positions(word)) + 1 for word in words)
    return MetricResult((0.39 * metrics.words_per_sentence(text)) + (11.8 * (spoken / len(words))) - 15.59)


def dale_chall(text: str) -> MetricResult:
    """Return the Dale-Chall readability score (DCRS); 0 for an empty text.

    The score depends on the share of words not on the Dale-Chall list and on the words per sentence. As in textstat,
    inflected forms and names that are not on the list count as difficult.
    """
    from textstat.backend import metrics, selections, utils  # noqa: PLC0415  (it imports nltk, for a second)

    words = selections.list_words(text)
    if not words:
        return MetricResult(0.0)
    easy = utils.get_lang_easy_words("en")
    difficult = 100 * sum(word.lower() not in easy for word in words) / len(words)
    score = (0.1579 * difficult) + (0.0496 * metrics.words_per_sentence(text))
    return MetricResult(score + 3.6365 if difficult > 5 else score)
