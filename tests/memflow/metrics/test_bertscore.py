"""BERTScore of texts, with an encoder whose vectors are set by hand."""

import numpy as np
import pytest

from memflow.metrics.bertscore import Vectors, bertscore, bertscores

EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]
NORTH_EAST = [0.6, 0.8]


def text(*tokens: list[float], start: list[float] = WEST, end: list[float] = WEST) -> Vectors:
    return np.array([start, *tokens, end], dtype=np.float32)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        # The answer's tokens find 1 and .8; of the gold's, EAST finds EAST (1), NORTH_EAST finds NORTH (.8).
        (text(EAST, NORTH), text(EAST, NORTH_EAST, start=EAST), (0.9, 0.9, 0.9)),
        (text(EAST, NORTH), text(EAST), (0.5, 1, 2 / 3)),
        # Special tokens match but do not count: the best match of NORTH is the gold's first mark.
        (text(NORTH), text(EAST, start=NORTH), (1, 0, 0)),
        (text(), text(EAST), (0, 0, 0)),
        (text(EAST), text(), (0, 0, 0)),
    ],
)
def test_bertscore_matches_hand_computed_values(
    answer: Vectors, gold: Vectors, score: tuple[float, ...]
) -> None:
    assert bertscore(answer, gold) == pytest.approx(score)


async def test_bertscores_without_encoder_gives_the_reason() -> None:
    scores = await bertscores(None, [("一", "一"), ("二", "一")], "zh")
    assert [score.value for score in scores] == [None, None]
    assert "[encoder.zh]" in str(scores[0].reason)
