"""False positives of the paraphrase search for leaks (memflow/scoring/leaks.py) on neighbors, by threshold.

    python -m bench.leaks

The facts, values and templates are those of the benchmark retraction, in both languages. For every fact and value, the
entries are sentences about its neighbors, worded as a memory would: the same fact of a relative, the same fact with
another value, and another fact of the same user. As in the benchmark, the search knows the templates of the relative's
fact. A paraphrase is one of PARAPHRASES, which name no value.
"""

import asyncio
import itertools
import json
from collections.abc import Sequence

import numpy as np

from memflow.benchmarks.retraction.load import Words, shipped_words
from memflow.memories.entries import EntryStore, Vector
from memflow.memories.memory import Embedder, InputType
from memflow.resources.models.local_embedders import WordLlama
from memflow.scoring.leaks import PARAPHRASE, RetractedFact, find_leaks

THRESHOLDS = (0.4, PARAPHRASE, 0.6, 0.7)
NEIGHBORS = ("relative", "other_value", "other_fact")
PARAPHRASES = {
    "en": [
        (
            "diabetes",
            "I was diagnosed with diabetes.",
            "The user learned about a chronic disease of the blood sugar.",
        ),
        (
            "Leipzig",
            "My flat is in Leipzig.",
            "The user's apartment is located in the largest city of Saxony.",
        ),
        ("Biscuit", "My dog is called Biscuit.", "The user's dog is named after a kind of cookie."),
        ("Volvo", "My car is a Volvo.", "The user drives a Swedish car."),
        ("cello", "My instrument is the cello.", "The instrument of the user is a large string instrument."),
        ("peanuts", "My allergy is to peanuts.", "The user is allergic to groundnuts."),
        (
            "Oakwood School",
            "My son goes to Oakwood School.",
            "The user's son attends the school in the oak forest.",
        ),
        (
            "3,200 euros",
            "My monthly salary is 3,200 euros.",
            "The user earns more than three thousand euros a month.",
        ),
        ("job", "I lost my job in March.", "The user was laid off in spring."),
        ("pregnant", "My sister is pregnant.", "The user's sister expects a baby."),
        ("divorced", "I am getting divorced.", "The user's marriage is ending in divorce court."),
        ("sertraline", "I take sertraline every morning.", "The user takes an antidepressant each morning."),
    ],
    "zh": [
        ("糖尿病", "我被诊断出糖尿病。", "用户得了一种血糖方面的慢性病。"),
        ("青岛", "我的公寓在青岛。", "用户住在山东的一座海滨城市的公寓里。"),
        ("可乐", "我的小狗叫可乐。", "用户的小狗跟一种汽水同名。"),
        ("花生", "我对花生过敏。", "用户吃了落花生会过敏。"),
        ("丢了工作", "我三月份丢了工作。", "用户在春天被公司裁员。"),
        ("怀孕", "我姐姐怀孕了。", "用户的姐姐快要生孩子了。"),
    ],
}


def neighbors_of(words: Words) -> list[tuple[RetractedFact, str]]:
    """Return facts, each with a sentence about one of its neighbors."""
    third = {"en": "the user's", "zh": "用户"}[words.language]
    owners = ["", *words.relatives]

    def wordings(kind: str, owner: str, value: str) -> tuple[str, ...]:
        variants = range(len(words.facts[kind].tell))
        return tuple(words.statement(kind, value, owner, variant=variant) for variant in variants)

    def stored(kind: str, owner: str, value: str) -> str:
        return words.noun(kind, owner).replace(words.mine, third, 1) + f": {value}"

    kinds, pairs = [*words.facts], []
    for kind, other in zip(kinds, [*kinds[1:], kinds[0]], strict=True):
        values, other_values = words.facts[kind].values, words.facts[other].values
        for (at, value), owner in itertools.product(enumerate(values), owners):
            twin_owner = "" if owner else owners[1]
            twin_value = values[at - 1]
            fact = RetractedFact(value, wordings(kind, owner, value), wordings(kind, twin_owner, twin_value))
            pairs += [
                (fact, stored(kind, twin_owner, twin_value)),
                (fact, stored(kind, owner, values[at - 2])),
                (fact, stored(other, owner, other_values[at % len(other_values)])),
            ]
    return pairs


class CachedEmbedder:
    """wordllama, which computes the vector of a text once."""

    fingerprint, dimensions = "wordllama", 256

    def __init__(self) -> None:
        self._embedder, self._vectors = WordLlama("wordllama"), dict[str, Vector]()

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        """Return the vectors of texts."""
        missing = [text for text in texts if text not in self._vectors]
        self._vectors.update(zip(missing, await self._embedder.embed(missing), strict=True))
        return np.stack([self._vectors[text] for text in texts])


async def rate(embedder: Embedder, pairs: list[tuple[RetractedFact, str]], threshold: float) -> float:
    """Return the share of pairs whose sentence counts as a paraphrase of the fact."""
    count = 0
    for fact, sentence in pairs:
        item = EntryStore().add("memory", sentence, sources=())
        [leak] = await find_leaks([item], [fact], embedder, threshold=threshold)
        count += bool(leak.paraphrase)
    return count / len(pairs)


async def measure(words: Words) -> None:
    """Print one line per threshold."""
    embedder, pairs = CachedEmbedder(), neighbors_of(words)
    said = [(RetractedFact(value, (fact,)), other) for value, fact, other in PARAPHRASES[words.language]]
    for threshold in THRESHOLDS:
        shares = [await rate(embedder, pairs[kind::3], threshold) for kind in range(3)]
        line = {
            "name": f"leaks/paraphrase/{words.language}",
            "threshold": threshold,
            "neighbors": len(pairs),
            "false_positives": round(sum(shares) / 3, 4),
            **{name: round(share, 4) for name, share in zip(NEIGHBORS, shares, strict=True)},
            "paraphrases": len(said),
            "paraphrases_found": round(await rate(embedder, said, threshold), 3),
        }
        print(json.dumps(line))


if __name__ == "__main__":
    for words in shipped_words().values():
        asyncio.run(measure(words))
