"""Word overlap metrics of evaluations of LLM memories: F1 over sets of words, and BLEU-1.

Both are those of the evaluation that A-Mem published and that Mem0 and others copied.
"""

import math
from collections import Counter

_SEPARATORS = str.maketrans(dict.fromkeys(".,!?", " "))


def set_f1(prediction: str, gold: str) -> float:
    """Return the F1 of the sets of words of both texts, in [0, 1]; 0 if a text has no words.

    Words are lower case and separated by white space and `. , ! ?`. There is no stemming, articles count, and a
    repeated word counts once, unlike in `text.locomo_f1`.
    """
    answer_words, gold_words = _word_set(prediction), _word_set(gold)
    common = len(answer_words & gold_words)
    if not common:
        return 0.0
    precision, recall = common / len(answer_words), common / len(gold_words)
    return 2 * precision * recall / (precision + recall)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.lower().translate(_SEPARATORS).split())


def bleu_1(prediction: str, gold: str) -> float:
    """Return BLEU-1, in [0, 1]: clipped precision of words, with the brevity penalty; 0 without a common word.

    Words are those of NLTK's `word_tokenize` on lower case texts, so punctuation marks count. The published values use
    a trained sentence tokenizer and an older rule for single quotes. Values differ for few texts (`treebank.py`).
    """
    from memflow.metrics.treebank import treebank_words  # noqa: PLC0415  (nltk takes a second to import)

    answer, reference = treebank_words(prediction.lower()), treebank_words(gold.lower())
    common = (Counter(answer) & Counter(reference)).total()
    if not common:
        return 0.0
    penalty = 1.0 if len(answer) > len(reference) else math.exp(1 - len(reference) / len(answer))
    return penalty * (common / len(answer))
