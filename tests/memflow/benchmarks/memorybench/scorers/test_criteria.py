import json

STANDARD, PUBLISHED = ("criteria", "standard"), ("criteria", "published_code")
GOLD = {
    "criteria": [
        {"name": "Tone", "description": "The tone fits.", "levels": {"1-2": "harsh", "9-10": "warm"}},
        {"name": "Facts", "description": "The facts are right.", "levels": {"1-2": "wrong", "9-10": "right"}},
        {"name": "Form", "description": "It is a letter.", "levels": {}},
    ]
}


def by_criterion(**scores: object):
    def answer(request) -> str:
        name = request.fields["criteria"].partition(":")[0]
        return json.dumps({"reason": "r", "score": scores[name]})

    return answer


async def test_criteria_score_is_mean_over_one_judge_request_per_criterion(judge, probe_of, marks_of) -> None:
    chat = judge(criterion=by_criterion(Tone=10, Facts=4, Form=7))
    found = await marks_of(probe_of("writingbench_law", GOLD, "Write."), "Dear all", chat)
    assert {row: mark.value for row, mark in found.items()} == {STANDARD: 7.0}
    assert [fields["criteria"] for fields in chat.fields("criterion")] == [
        "Tone: The tone fits.\n1-2: harsh\n9-10: warm",
        "Facts: The facts are right.\n1-2: wrong\n9-10: right",
        "Form: It is a letter.",
    ]


async def test_published_code_variant_scores_all_criteria_in_one_request(judge, probe_of, marks_of) -> None:
    chat = judge(criterion=by_criterion(Tone=1, Facts=1, Form=1), criteria={"reason": "r", "score": 9})
    found = await marks_of(probe_of("writingbench_law", GOLD), "Dear all", chat, published=True)
    assert {row: mark.value for row, mark in found.items()} == {STANDARD: 1.0, PUBLISHED: 9.0}
    [fields] = chat.fields("criteria")
    assert all(name in fields["criteria"] for name in ("Tone: ", "Facts: ", "Form: "))


async def test_failed_criterion_request_gives_null_with_criterion_name(judge, probe_of, marks_of) -> None:
    chat = judge(criterion=by_criterion(Tone=10, Facts=11, Form=7))
    mark = (await marks_of(probe_of("writingbench_law", GOLD), "Dear all", chat))[STANDARD]
    assert mark.value is None
    assert mark.reason.startswith("Facts: ") and "less than or equal to 10" in mark.reason
