"""Published values of the paper: all are present, and arithmetic proves the known errors."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from memflow.benchmarks.comem.paper import (
    count,
    published,
    reference,
    stands_for,
)
from memflow.benchmarks.comem.paper_consistency import (
    QuestionCounts,
    common_initial_counts,
    count_questions,
    paper_rows_of_model,
)
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput

ROWS = published()
GROUPS = sorted({(row.dataset, row.model) for row in ROWS})
MODELS = ("GPT-4o-mini", "Gemini-2.5-flash", "DeepSeek-V3.2", "DeepSeek-V3.2-think")
OTHERS = MODELS[1:]
MISFITS = {(dataset, model, "mem0") for dataset in ("personamem_32k", "dialsim") for model in OTHERS}
"""The list of docs/explanation/comem.md: T1."""


def held(dataset, model, memory):
    [row] = [row for row in paper_rows_of_model(dataset, model) if row.memory == memory]
    return row


def test_every_value_of_the_published_tables_is_present() -> None:
    assert [row.memory for row in ROWS[:4]] == list(reference().memories) == ["full", "rag", "memp", "mem0"]
    by_dataset = {name: sum(row.dataset == name for row in ROWS) for name in reference().datasets}
    # Mem0 was not run on 128k. A row has two figures at each of four checkpoints, and two over all.
    assert by_dataset == {"personamem_32k": 16, "personamem_128k": 12, "dialsim": 16}
    assert sum(len(row.plain()) for row in ROWS) == 44 * 10
    assert len({(row.dataset, row.model, row.memory) for row in ROWS}) == 44
    assert all(row.doubt is None or row.doubt in reference().doubts for row in ROWS)


def test_every_published_value_is_a_share_of_its_questions() -> None:
    for row in ROWS:
        assert row.questions == reference().datasets[row.dataset].questions
        for share in row.plain().values():
            assert abs(
                Fraction(count(share, row.questions), row.questions) - Fraction(str(share))
            ) <= Fraction(1, 20_000)
    with pytest.raises(BadInput, match=r"0\.1275 matches no number of correct answers out of 322"):
        count(0.1275, 322)


PATTERNS = list(product((0, 1), repeat=5))


def counts_of(answers):
    """The paper's counts of answers at checkpoints 0 to 4, and how many are right at checkpoint 0."""
    forgotten = tuple(sum(any(each[:at]) and not each[at] for each in answers) for at in range(1, 5))
    learnt = tuple(sum(not any(each[:at]) and each[at] for each in answers) for at in range(1, 5))
    always, never = (
        sum(all(each[1:]) for each in answers),
        sum(not any(each[1:]) for each in answers),
    )
    return QuestionCounts(len(answers), forgotten, learnt, always, never), sum(each[0] for each in answers)


def test_initial_counts_match_enumeration_of_all_answers_to_3_questions() -> None:
    initial_counts: dict[QuestionCounts, set[int]] = {}
    for answers in combinations_with_replacement(PATTERNS, 3):
        counts, start = counts_of(answers)
        initial_counts.setdefault(counts, set()).add(start)
    assert len(initial_counts) == 2791
    assert all(counts.initial_counts() == found for counts, found in initial_counts.items())


def test_published_gains_and_initial_counts_match_hand_computed_values() -> None:
    full = count_questions(held("personamem_128k", "Gemini-2.5-flash", "full"))
    assert (full.forgotten, full.learnt) == ((41, 63, 60, 77), (104, 19, 11, 4))
    assert full.gains() == (63, 60, 74, 61)  # A_n - A_0 in questions of 322
    assert (min(full.initial_counts()), max(full.initial_counts())) == (161, 184)


def test_each_published_row_is_consistent_with_some_initial_count() -> None:
    assert all(count_questions(row).initial_counts() for row in ROWS)


def test_six_published_mem0_rows_contradict_initial_count_of_other_rows() -> None:
    assert {(row.dataset, row.model, row.memory) for row in ROWS if row.doubt == "T1"} == MISFITS
    for dataset, model in GROUPS:
        rows = paper_rows_of_model(dataset, model)
        sound = [row for row in rows if (dataset, model, row.memory) not in MISFITS]
        assert common_initial_counts(sound)
        for row in rows:
            if row not in sound:
                assert max(count_questions(row).initial_counts()) < min(common_initial_counts(sound))


DIALSIM = ("comem_friends", "comem_bigbang", "comem_theoffice")


@pytest.mark.parametrize(
    ("datasets", "parameters", "theirs"),
    [
        (("personamem_32k",), {}, "personamem_32k"),
        (DIALSIM, {}, "dialsim"),
        (DIALSIM[:1], {}, "dialsim"),
        (("friendsqa",), {}, None),
        ((*DIALSIM, "friendsqa"), {}, None),
        (("personamem_32k",), {"checkpoints": (0.5, 1.0)}, None),
    ],
)
def test_domain_maps_to_data_set_of_paper(datasets, parameters, theirs) -> None:
    assert stands_for(Domain("d", "comem", datasets, "d", parameters)) == theirs
