import pytest

ROW, PUBLISHED = ("checklist", "standard"), ("checklist", "published_code")
GOLD = {"checklist": ["Is it long?", "Is it true?", "Is it kind?"]}


def items(*scores: float, first: int = 1) -> dict:
    return {
        "items": [
            {"number": number, "reason": "r", "score": score}
            for number, score in enumerate(scores, start=first)
        ]
    }


@pytest.mark.parametrize(
    ("scores", "mean"), [((1, 1, 1), 1.0), ((0, 0, 0), 0.0), ((1, 0.5, 0.75), 0.75), ((0.25, 0, 0.5), 0.25)]
)
async def test_checklist_score_is_mean_of_item_scores(judge, probe_of, marks_of, scores, mean) -> None:
    chat = judge(checklist=items(*scores))
    found = await marks_of(probe_of("hellobench_qa", GOLD, "Write."), "A text.", chat)
    assert found[ROW].value == mean
    assert chat.fields("checklist") == [
        {
            "request": "Write.",
            "answer": "A text.",
            "checklist": "1. Is it long?\n2. Is it true?\n3. Is it kind?",
        }
    ]
