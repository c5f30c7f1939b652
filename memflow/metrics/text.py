"""Text metrics that compare an answer with the gold answer: LoCoMo's F1, ROUGE-L, exact match.

Their values equal the published evaluations to the last bit. METEOR is in meteor.py.
"""

import json
import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from rapidfuzz.distance import LCSseq

from memflow.errors import BadInput, BadSettings
from memflow.metrics.stems import stem as stem_of
from memflow.words import HAN

Sentences = Sequence[Sequence[str]]

DEEPEST = 980
"""The number of recursive steps from which the package fails (Python's limit is 1,000 frames)."""


def union_rouge_l(answer: Sentences, gold: Sentences) -> float:
    """Return the score called rouge-l by the package `rouge` 1.0.1, in [0, 1); 0 for a text without a sentence.

    The score is the F-measure over distinct words of the union of one longest common subsequence per pair of sentences.
    If several subsequences are longest, the choice matters; this function chooses the same one as the package. The
    score is 0 if the package fails, since its published callers score such an error as 0.
    """
    if not answer or not gold:
        return 0.0
    all_common_words: set[str] = set()
    for gold_sentence in gold:
        for sentence in answer:
            common_words, steps = _walk_back(sentence, gold_sentence)
            if steps > DEEPEST:
                return 0.0
            all_common_words |= common_words
    precision = len(all_common_words) / len({word for sentence in answer for word in sentence})
    recall = len(all_common_words) / len({word for sentence in gold for word in sentence})
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def _walk_back(answer: Sequence[str], gold: Sequence[str]) -> tuple[set[str], int]:
    """Return (words, steps): the longest common subsequence that the package `rouge` finds, and its recursion steps."""
    position_bits: dict[str, int] = {}
    for position, word in enumerate(answer):
        position_bits[word] = position_bits.get(word, 0) | 1 << position
    words: set[str] = set()
    if position_bits.keys().isdisjoint(gold):
        return words, len(answer)
    # A row of the table of lengths is stored as bits: at a 0, the length grows by 1 (Hyyrö 2004).
    all_positions = (1 << len(answer)) - 1
    rows = [all_positions]
    for word in gold:
        matches = rows[-1] & position_bits.get(word, 0)
        rows.append((rows[-1] + matches | rows[-1] - matches) & all_positions)
    gold_end, answer_end, steps = len(gold), len(answer), 0
    while gold_end and answer_end:
        steps += 1
        if gold[gold_end - 1] == answer[answer_end - 1]:
            words.add(answer[answer_end - 1])
            gold_end -= 1
            answer_end -= 1
        elif rows[gold_end] >> (answer_end - 1) & 1:
            answer_end -= 1
        else:
            gold_end -= 1
    return words, steps


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the|and)\b")
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_NOT_WORD = re.compile(r"[\W_]+")
_HAN = re.compile(f"[{HAN}]")
_LEXEVAL = str.maketrans(
    "",
    "",
    string.punctuation
    + "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】"
    + "〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏",
)
"""Characters that LexEval's evaluation deletes; `》` is among them, `《` and `·` are not."""

NO_SUCH_THING = ("no information available", "not mentioned")
"""What an answer to an adversarial question must contain (LoCoMo, category 5)."""


@lru_cache(maxsize=50_000)
def _stems(text: str) -> tuple[Counter[str], int]:
    """Return the count of each stem in a text, after normalization, and the total number of stems."""
    words = _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()
    return Counter(map(stem_of, words)), len(words)


def _f1(prediction: str, gold: str) -> float:
    """Return the F1 of the stems of two texts, where a repeated stem counts as often; 0 without a common stem."""
    answer_stems, n_answer = _stems(prediction)
    gold_stems, n_gold = _stems(gold)
    if len(answer_stems) > len(gold_stems):
        answer_stems, gold_stems = gold_stems, answer_stems
    common = sum(min(count, gold_stems[stem]) for stem, count in answer_stems.items() if stem in gold_stems)
    if common == 0:
        return 0.0
    precision, recall = common / n_answer, common / n_gold
    return 2 * precision * recall / (precision + recall)


def word_f1(prediction: str, gold: str, language: Literal["en", "zh"] = "en") -> float:
    """Return the F1 of the words of two texts, in [0, 1]; 0 for an empty text.

    English words are stemmed, without articles and punctuation, as in LoCoMo. Chinese words are those of `rouge_l`.
    """
    if language == "en":
        return _f1(prediction, gold)
    answer_words, gold_words = Counter(_chinese_words(prediction)), Counter(_chinese_words(gold))
    common = (answer_words & gold_words).total()
    return 2 * common / (answer_words.total() + gold_words.total()) if common else 0.0


def _mean(scores: list[float]) -> float:
    # numpy adds up eight and more in another order than sum: the published scores are numpy's.
    return float(np.mean(scores)) if len(scores) >= 8 else sum(scores) / len(scores)


def locomo_f1(prediction: str, gold: str, category: int | str) -> float:
    """Return LoCoMo's score of an answer, in [0, 1], as in MemoryBench and LoCoMo's evaluation.

    Categories: 1 multi-hop (the mean over the gold's comma-separated parts of the best F1), 2 temporal, 3 open domain
    (the gold up to its first semicolon), 4 single-hop (F1 of Porter stems), 5 adversarial (1 if the answer says that
    there is no information). The gold of category 5 is JSON `{"a": ..., "b": ...}`: the texts of the two options, which
    replace an answer that is only a letter. Raises BadInput for another category or an invalid gold.
    """
    prediction = prediction.strip()
    match str(category):
        case "1":
            parts = prediction.split(",")
            return _mean([max(_f1(part, gold_part) for part in parts) for gold_part in gold.split(",")])
        case "3":
            return _f1(prediction, gold.partition(";")[0])
        case "2" | "4":
            return _f1(prediction, gold)
        case "5":
            return _adversarial(prediction.lower(), gold)
    raise BadInput(f"unknown LoCoMo category {category!r}. Use a category from 1 to 5.")


def _adversarial(prediction: str, gold: str) -> float:
    """Return 1 if a lower-case answer, or the option that it names, says that there is no information; else 0."""
    # As published: an answer of one or three characters is the second option's, but for the first's letter.
    if len(prediction) in (1, 3):
        letter = "a" if len(prediction) == 1 else "(a)"
        prediction = _options(gold)["a" if letter in prediction else "b"].lower()
    return float(any(words in prediction for words in NO_SUCH_THING))


def _options(gold: str) -> dict[str, str]:
    """Return the texts of the options "a" and "b" of an adversarial question. Raises BadInput."""
    try:
        options = json.loads(gold)
        return {"a": options["a"], "b": options["b"]}
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f'the LoCoMo gold {gold[:80]!r} of category 5 has no options. Use the form {{"a": ..., "b": ...}}.'
        ) from error


def rouge_l(
    prediction: str,
    gold: str,
    language: Literal["en", "zh"] = "en",
    variant: Literal["standard", "published_code"] = "standard",
    *,
    stem: bool = False,
) -> float:
    """Return ROUGE-L, the F-measure of the longest common subsequence of words, in [0, 1]; 0 for an empty text.

    English words are those of rouge-score (`stem` is its `use_stemmer`). Chinese words are those of jieba without case,
    punctuation and white space, as in LexEval.

    The variant `published_code` is the score of the package `rouge` 1.0.1 (`union_rouge_l`), which MemoryBench uses for
    LexEval. Texts of about 1,000 words together score 0, since the package fails on them. The published ROUGE-L of
    SciTechNews is the variant `standard`. Raises BadSettings for an unknown language or variant.
    """
    if language not in ("en", "zh"):
        raise BadSettings(f"unknown ROUGE-L language {language!r}. Use 'en' or 'zh'.")
    if variant == "published_code":
        split_sentences = _lexeval_sentences if language == "zh" else _package_sentences
        return union_rouge_l(split_sentences(prediction), split_sentences(gold))
    if variant != "standard":
        raise BadSettings(f"unknown ROUGE-L variant {variant!r}. Use 'standard' or 'published_code'.")
    if language == "en":
        answer_words, gold_words = _english_words(prediction, stem), _english_words(gold, stem)
    else:
        answer_words, gold_words = _chinese_words(prediction), _chinese_words(gold)
    if not answer_words or not gold_words:
        return 0.0
    common = LCSseq.similarity(answer_words, gold_words)
    precision, recall = common / len(answer_words), common / len(gold_words)
    return 2 * precision * recall / (precision + recall) if common else 0.0


def rouge_with_recall(prediction: str, gold: str, *, summary: bool = False) -> tuple[float, float]:
    """Return (F-measure, recall) of ROUGE-L in rouge-score with its stemmer, each in [0, 1]; 0 without a common word.

    With `summary` they are those of ROUGE-Lsum, whose sentences are lines. If the gold has Chinese characters, words
    are those of jieba, as rouge-score would drop them.
    """
    is_chinese = _HAN.search(gold) is not None

    def sentences(text: str) -> list[tuple[str, ...]]:
        lines = text.split("\n") if summary else [text]
        return [_chinese_words(line) if is_chinese else _english_words(line, True) for line in lines]

    answer, reference = sentences(prediction), sentences(gold)
    unmatched = [Counter(word for sentence in text for word in sentence) for text in (answer, reference)]
    totals = [counts.total() for counts in unmatched]
    hits = 0
    for sentence in reference if all(totals) else ():
        positions = sorted({position for line in answer for position in _common_positions(sentence, line)})
        for word in (sentence[position] for position in positions):
            if all(counts[word] > 0 for counts in unmatched):
                hits += 1
                for counts in unmatched:
                    counts[word] -= 1
    precision, recall = (hits / total if total else 0.0 for total in totals)
    return (2 * precision * recall / (precision + recall) if hits else 0.0), recall


def _common_positions(gold: Sequence[str], answer: Sequence[str]) -> list[int]:
    """Return the positions in `gold`, from 0 and descending, of the subsequence that rouge-score selects."""
    lengths = [[0] * (len(answer) + 1)]
    for word in gold:
        above, row = lengths[-1], [0]
        for position, answer_word in enumerate(answer):
            row.append(
                above[position] + 1 if word == answer_word else max(above[position + 1], row[position])
            )
        lengths.append(row)
    positions, gold_end, answer_end = [], len(gold), len(answer)
    while gold_end and answer_end:
        if gold[gold_end - 1] == answer[answer_end - 1]:
            positions.append(gold_end - 1)
            gold_end, answer_end = gold_end - 1, answer_end - 1
        elif lengths[gold_end][answer_end - 1] > lengths[gold_end - 1][answer_end]:
            answer_end -= 1
        else:
            gold_end -= 1
    return positions


@lru_cache(maxsize=10_000)
def _english_words(text: str, stem: bool) -> tuple[str, ...]:
    words = _NOT_ALPHANUMERIC.sub(" ", text.lower()).split()
    return tuple(stem_of(word) if len(word) > 3 else word for word in words) if stem else tuple(words)


@lru_cache(maxsize=10_000)
def _chinese_words(text: str) -> tuple[str, ...]:
    return _segmented(_NOT_WORD.sub("", text.lower()))


@lru_cache(maxsize=10_000)
def _lexeval_sentences(text: str) -> tuple[tuple[str, ...], ...]:
    words = _segmented("".join(text.lower().translate(_LEXEVAL).split()))
    return (words,) if words else ()


@lru_cache(maxsize=10_000)
def _package_sentences(text: str) -> tuple[tuple[str, ...], ...]:
    # White space alone is a sentence of one empty word to the package, as after a full stop and a space at the end.
    return tuple(tuple(sentence.split()) or ("",) for sentence in text.split(".") if sentence)


def _segmented(text: str) -> tuple[str, ...]:
    import rjieba  # noqa: PLC0415  (its dictionary takes a moment)

    return tuple(rjieba.cut(text))


def exact_match(prediction: str, gold: str) -> float:
    """Return 1 if the texts are equal, ignoring case, outer white space and a final period (DialSim); else 0."""
    answer_text, gold_text = prediction.strip().lower(), gold.strip().lower()
    return float(answer_text in (gold_text, f"{gold_text}."))
