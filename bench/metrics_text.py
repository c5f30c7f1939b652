"""Text metrics compared with their reference implementations: CPU time per pair, and equality of the scores.

`locomo_f1` is compared with the published evaluation, reimplemented here from its description: nltk's Porter stemmer
stems every word of every text again, and Counters compare the words. `rouge_l` (English) is compared with rouge-score
without its stemmer. memflow starts with empty caches. The pairs for F1 are LoCoMo's golds if MEMFLOW_DATA contains
them, each with the answers of six assistants (the benchmark compares eight). Further texts of 1 to 30 words are drawn
from a seed with a Zipf vocabulary. The texts for ROUGE-L are drawn and have 200 words.

The command prints one JSON line per metric, and its exit code is 1 if a score differs or a ratio is below its bound.
"""

import json
import random
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from bench.measure import ROUNDS, cpu_seconds, published, report
from bench.memories_bm25 import LOCOMO
from memflow.metrics import stems, text
from memflow.metrics.text import locomo_f1, rouge_l

F1_BOUND = 10.0
ROUGE_BOUND = 50.0
F1_PAIRS = 3000
ROUGE_PAIRS = 300
NOT_MENTIONED = "Not mentioned in the conversation"
SYLLABLES = [
    "ba",
    "cor",
    "de",
    "fin",
    "gle",
    "har",
    "is",
    "jo",
    "ken",
    "lu",
    "mar",
    "no",
    "pre",
    "qui",
    "ra",
    "ster",
]
ENDINGS = ("", "", "s", "ing", "ed", "ation", "ly", "ness")

PUNCTUATION = frozenset(string.punctuation)

F1Pair = tuple[str, str, int]


def main() -> int:
    """Print the speed of F1 and ROUGE-L. Return 1 if a metric is too slow or differs from its reference, else 0."""
    chance = random.Random(42)
    words = vocabulary(chance)
    drawn = [f1_pair(chance, words) for _ in range(F1_PAIRS)]
    published = locomo_pairs(chance)
    missed = 0
    for source, pairs in (("seed", drawn), ("locomo", published)):
        if pairs:
            missed += f1(source, pairs)
    missed += rouge([(draw_text(chance, words, 200), words) for _ in range(ROUGE_PAIRS)], chance)
    return int(missed > 0)


def f1(source: str, pairs: Sequence[F1Pair]) -> int:
    """Print the speed of LoCoMo's F1. Return 1 if a score differs or nltk takes less than 10 times as long."""
    from nltk.stem.porter import PorterStemmer

    stemmer = PorterStemmer()
    theirs, their_scores = time_scores(lambda: [published_f1(stemmer, *pair) for pair in pairs])

    def forget() -> None:
        stems.stem.cache_clear()
        text._stems.cache_clear()

    ours, our_scores = time_scores(lambda: [locomo_f1(*pair) for pair in pairs], forget)
    identical = our_scores == their_scores
    peer = "nltk Porter as published"
    return report_pairs("locomo_f1", source, peer, F1_BOUND, len(pairs), ours, theirs, identical)


def rouge(texts: Sequence[tuple[str, Sequence[str]]], chance: random.Random) -> int:
    """Print the speed of ROUGE-L. Return 1 if a score differs or rouge-score takes less than 50 times as long."""
    from rouge_score import rouge_scorer

    pairs = [(add_noise(chance, gold, words), gold) for gold, words in texts]
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    theirs, their_scores = time_scores(
        lambda: [scorer.score(gold, prediction)["rougeL"].fmeasure for prediction, gold in pairs]
    )
    ours, our_scores = time_scores(
        lambda: [rouge_l(prediction, gold) for prediction, gold in pairs], text._english_words.cache_clear
    )
    identical = our_scores == their_scores
    peer = "rouge-score 0.1.2"
    return report_pairs("rouge_l_en", "seed", peer, ROUGE_BOUND, len(pairs), ours, theirs, identical)


def time_scores(
    work: Callable[[], list[float]], fresh: Callable[[], None] = lambda: None
) -> tuple[float, list[float]]:
    """Compute the scores ROUNDS times. Return the CPU seconds of the fastest round, and the scores.

    `fresh` is called before each round to clear the caches.
    """
    rounds = []
    for _ in range(ROUNDS):
        fresh()
        rounds.append(cpu_seconds(work))
    return min(rounds)


def report_pairs(
    name: str, source: str, peer: str, bound: float, n: int, ours: float, theirs: float, identical: bool
) -> int:
    """Print the pairs scored per CPU second. Return 1 if scores differ or the ratio to the peer is below `bound`."""
    ratio = theirs / ours
    report(
        {"name": name, "value": round(n / ours), "unit": "pairs/cpu_s"},
        peer=peer,
        peer_value=round(n / theirs),
        ratio=round(ratio, 1),
        bound=bound,
        identical=identical,
        pairs=n,
        texts=source,
    )
    return int(ratio < bound or not identical)


def published_f1(stemmer: object, prediction: str, gold: str, category: int) -> float:
    """Return LoCoMo's F1 computed as in the published evaluation, without a cache."""

    def stems(said: str) -> list[str]:
        said = "".join(letter for letter in said.replace(",", "").lower() if letter not in PUNCTUATION)
        said = " ".join(re.sub(r"\b(a|an|the|and)\b", " ", said).split())
        return [stemmer.stem(word) for word in said.split()]  # type: ignore[attr-defined]

    def score(said: str, wanted: str) -> float:
        one, other = stems(said), stems(wanted)
        same = sum((Counter(one) & Counter(other)).values())
        if same == 0:
            return 0.0
        precision, recall = same / len(one), same / len(other)
        return 2 * precision * recall / (precision + recall)

    prediction = prediction.strip()
    if category == 5:
        said = prediction.lower()
        if len(said) in (1, 3):
            options = json.loads(gold)
            said = options["a" if ("a" if len(said) == 1 else "(a)") in said else "b"].lower()
        return float("no information available" in said or "not mentioned" in said)
    if category == 1:
        parts = [part.strip() for part in prediction.split(",")]
        golds = [part.strip() for part in gold.split(",")]
        return float(np.mean([max(score(part, wanted) for part in parts) for wanted in golds]))
    return score(prediction, gold.partition(";")[0].strip() if category == 3 else gold)


def vocabulary(chance: random.Random) -> list[str]:
    """Return words with various suffixes, which the stemmer removes."""
    roots = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 3))) for _ in range(4000)]
    return [root + chance.choice(ENDINGS) for root in roots]


def draw_text(chance: random.Random, words: Sequence[str], length: int) -> str:
    """Return a random text of `length` words, some with commas, periods or articles."""
    drawn = chance.choices(words, weights=[1 / (rank + 1) for rank in range(len(words))], k=length)
    return " ".join(chance.choice(("{}", "{}", "{}", "the {}", "{},", "{}.")).format(word) for word in drawn)


def add_noise(chance: random.Random, gold: str, words: Sequence[str]) -> str:
    """Return a gold text with about 30 % of its words replaced by random words."""
    return " ".join(chance.choice(words) if chance.random() < 0.3 else word for word in gold.split())


def f1_pair(chance: random.Random, words: Sequence[str]) -> F1Pair:
    """Return a random answer and its gold text."""
    gold = draw_text(chance, words, chance.randint(1, 30))
    return add_noise(chance, gold, words), gold, chance.randint(1, 4)


def locomo_pairs(chance: random.Random) -> list[F1Pair]:
    """Return LoCoMo's golds, each with six answers: the gold itself, the gold in a sentence, and four messages."""
    path = published(LOCOMO)
    if path is None:
        return []
    pairs: list[F1Pair] = []
    for talk in json.loads(path.read_text(encoding="utf-8")):
        said = [
            turn["text"]
            for name, session in talk["conversation"].items()
            if isinstance(session, list) and name.startswith("session_")
            for turn in session
        ]
        for asked in talk["qa"]:
            gold = str(asked.get("answer", ""))
            if asked["category"] == 5:
                gold = json.dumps({"a": NOT_MENTIONED, "b": asked["adversarial_answer"]})
            right = str(asked.get("answer", "b"))
            answers = (right, f"The answer is {right}", *chance.sample(said, 4))
            pairs += [(answer, gold, asked["category"]) for answer in answers]
    return pairs


if __name__ == "__main__":
    sys.exit(main())
