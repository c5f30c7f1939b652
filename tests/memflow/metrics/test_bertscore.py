"""bertscore.py with vectors computed by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from memflow.metrics.bertscore import BertScore, Vectors, bertscore, bertscores, metric_name

EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]
NORTH_EAST = [0.6, 0.8]


def text(*tokens: list[float], start: list[float] = WEST, end: list[float] = WEST) -> Vectors:
    return np.array([start, *tokens, end], dtype=np.float32)


def test_bertscore_computed_by_hand() -> None:
    # The answer's tokens find 1 and .8, the gold's only token finds 1.
    score = bertscore(text(EAST, NORTH), text(EAST, NORTH_EAST, start=EAST))
    # gold: EAST finds EAST (1), NORTH_EAST finds NORTH (.8)
    assert score.precision == pytest.approx((1 + 0.8) / 2)
    assert score.recall == pytest.approx((1 + 0.8) / 2)
    assert score.f1 == pytest.approx(0.9)
    score = bertscore(text(EAST, NORTH), text(EAST))
    assert score.precision == pytest.approx(0.5) and score.recall == pytest.approx(1)
    assert score.f1 == pytest.approx(2 / 3)


def test_special_tokens_match_but_do_not_count() -> None:
    # NORTH's best match among the gold's rows is its first mark.
    score = bertscore(text(NORTH), text(EAST, start=NORTH))
    assert score.precision == pytest.approx(1)
    assert score.recall == pytest.approx(0)


def test_bertscore_of_empty_text_is_0() -> None:
    assert bertscore(text(), text(EAST)) == bertscore(text(EAST), text()) == BertScore(0, 0, 0)


class Letters:
    """a and b are at right angles, everything else is between them."""

    name, layer, fingerprint = "letters", 3, "of the test"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def encode(self, texts: Sequence[str]) -> list[Vectors]:
        self.asked.append(list(texts))
        known = {"a": EAST, "b": NORTH}
        return [text(*(known.get(letter, NORTH_EAST) for letter in one)) for one in texts]


async def test_each_text_is_encoded_once() -> None:
    encoder = Letters()
    pairs = [("a", "a"), ("b", "a"), ("ab", "a"), ("", "a")] + [(f"{'a' * n}b", "a") for n in range(1, 60)]
    scores = await bertscores(encoder, pairs)
    assert [score.value for score in scores[:4]] == pytest.approx([1, 0, 2 / 3, 0])
    assert len(scores) == 63 and all(score.reason is None for score in scores)
    assert all(len(asked) == len(set(asked)) for asked in encoder.asked)
    assert encoder.asked[0][:4] == ["a", "b", "ab", ""]


async def test_missing_encoder_gives_reason() -> None:
    scores = await bertscores(None, [("一", "一"), ("二", "一")], "zh")
    assert [score.value for score in scores] == [None, None]
    assert "[encoder.zh]" in str(scores[0].reason)


def test_metric_name_contains_model_and_layer() -> None:
    assert metric_name(Letters()) == "bertscore[letters,L3]"
    assert metric_name(None) == "bertscore"
