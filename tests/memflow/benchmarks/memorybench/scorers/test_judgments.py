import json

MEASURES = (
    "reasoning_meteor", "judgment_meteor", "reasoning_bertscore", "judgment_bertscore", "charge_recall",
    "charge_precision", "statute_recall", "statute_precision", "time", "fine",
)  # fmt: skip


def changed(judgment: str) -> str:
    """Return the judgment with half the prison term and one of two statutes."""
    return judgment.replace("有期徒刑一年", "有期徒刑六个月").replace("、第五十二条", "")


async def test_legal_judgment_reply_gets_ten_measures_and_merged_score(
    judge, probe_of, marks_of, judgment, encoders
) -> None:
    chat = judge(merge_judgment={"score": 9})
    found = await marks_of(probe_of("judge", judgment, "案情"), changed(judgment), chat, encoders=encoders)
    values = {row[0].partition("[")[0]: mark.value for row, mark in found.items()}
    assert set(values) == {"integrated", *MEASURES}
    assert values["integrated"] == 9
    assert (values["charge_recall"], values["charge_precision"]) == (1, 1)
    assert (values["statute_recall"], values["statute_precision"]) == (0.5, 1)
    assert (values["time"], values["fine"]) == (0.5, 1)
    assert 0.5 < values["judgment_meteor"] < 1
    [shown] = chat.fields("merge_judgment")
    assert (shown["facts"], shown["answer"], shown["gold"]) == ("案情", changed(judgment), judgment)
    assert {name: shown[name] for name in MEASURES} == {name: f"{values[name]:.2f}" for name in MEASURES}
    assert ("reasoning_bertscore[words,L1]", "standard") in found


async def test_published_code_merge_prompt_repeats_prison_term_score_for_every_measure(
    judge, probe_of, marks_of, judgment
) -> None:
    chat = judge(
        merge_judgment=lambda request: json.dumps({"score": 3 if request.fields["fine"] == "0.50" else 8})
    )
    found = await marks_of(probe_of("judge", judgment), changed(judgment), chat, published=True)
    assert found["time", "published_code"].value == 0.5
    assert found["integrated", "published_code"].value == 3
    assert found["integrated", "without_bertscore"].value == 8
    assert "without_bertscore" in found["integrated", "standard"].reason
    everywhere, once = sorted(chat.fields("merge_judgment"), key=lambda shown: shown["fine"])
    assert {everywhere[name] for name in MEASURES} == {"0.50"}
    assert once["reasoning_bertscore"] == "not measured" and once["charge_recall"] == "1.00"


async def test_reply_that_is_not_a_legal_judgment_gets_merged_score(
    judge, probe_of, marks_of, judgment, encoders
) -> None:
    chat = judge(merge_judgment={"score": 1})
    found = await marks_of(probe_of("judge", judgment), "我不知道。", chat, encoders=encoders, published=True)
    assert found["integrated", "standard"].value == 1
    assert found["reasoning_meteor", "standard"].value is None
    assert "reasoning" in found["reasoning_meteor", "standard"].reason
    assert found["time", "standard"].value == 0 and found["charge_recall", "standard"].value == 0
    assert chat.fields("merge_judgment")[0]["reasoning_meteor"] == "not measured"
