"""The paper's published figures: they are all there, and what is said to be wrong with them follows from arithmetic."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from memflow.benchmarks.comem.paper import (
    Row,
    again,
    claims,
    count,
    doubts,
    memories,
    published,
    sources,
    stands_for,
)
from memflow.benchmarks.comem.paper_consistency import Counts, claimed, common, counted, of
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput

ROWS = published()
GROUPS = sorted({(row.dataset, row.model) for row in ROWS})
MODELS = ("GPT-4o-mini", "Gemini-2.5-flash", "DeepSeek-V3.2", "DeepSeek-V3.2-think")
OTHERS = MODELS[1:]
MISFITS = {(dataset, model, "mem0") for dataset in ("personamem_32k", "dialsim") for model in OTHERS}
"""Docs/fidelity.md lists these: T1."""


def held(dataset, model, memory):
    [row] = [row for row in of(dataset, model) if row.memory == memory]
    return row


def test_every_figure_of_the_papers_tables_is_there() -> None:
    assert [row.memory for row in ROWS[:4]] == list(memories()) == ["full", "rag", "memp", "mem0"]
    by_dataset = {name: sum(row.dataset == name for row in ROWS) for name in sources()}
    # Mem0 was not run on 128k. A row has two figures at each of four checkpoints, and two over all.
    assert by_dataset == {"personamem_32k": 16, "personamem_128k": 12, "dialsim": 16}
    assert sum(len(row.plain()) for row in ROWS) == 44 * 10
    assert len({(row.dataset, row.model, row.memory) for row in ROWS}) == 44
    assert all(row.doubt is None or row.doubt in doubts() for row in ROWS)


def test_every_figure_is_a_share_of_its_questions() -> None:
    for row in ROWS:
        assert row.questions == sources()[row.dataset].questions
        for share in row.plain().values():
            assert abs(
                Fraction(count(share, row.questions), row.questions) - Fraction(str(share))
            ) <= Fraction(1, 20_000)
    with pytest.raises(BadInput, match=r"0\.1275 is no share of 322 questions"):
        count(0.1275, 322)


def test_t2_tables_4_and_5_were_rounded_twice() -> None:
    for one in again():
        row = held(one.dataset, one.model, one.memory)
        exact = Fraction(counted(row).always, row.questions)
        once = Fraction(str(row.all_correct))
        if one.less is not None:
            other = held(one.dataset, one.less, one.memory)
            exact -= Fraction(counted(other).always, row.questions)
            once = round_half_up(once) - round_half_up(Fraction(str(other.all_correct)))
        told = Fraction(str(one.all_correct))
        assert round_half_up(exact) != told == round_half_up(once)
    assert [(one.table, one.less) for one in again()] == [
        (4, None),
        (4, "DeepSeek-V3.2"),
        (4, "DeepSeek-V3.2"),
        (5, None),
    ]


def round_half_up(share):
    """To three digits."""
    return Fraction(int(abs(share) * 1000 + Fraction(1, 2)) * (1 if share >= 0 else -1), 1000)


PATTERNS = list(product((0, 1), repeat=5))


def counts_of(answers):
    """The paper's counts of answers at checkpoints 0 to 4, and how many are right at checkpoint 0."""
    forgotten = tuple(sum(any(each[:at]) and not each[at] for each in answers) for at in range(1, 5))
    learnt = tuple(sum(not any(each[:at]) and each[at] for each in answers) for at in range(1, 5))
    always, never = (
        sum(all(each[1:]) for each in answers),
        sum(not any(each[1:]) for each in answers),
    )
    return Counts(len(answers), forgotten, learnt, always, never), sum(each[0] for each in answers)


def test_the_starts_of_three_questions_are_those_of_all_answers_that_have_their_counts() -> None:
    starts: dict[Counts, set[int]] = {}
    for answers in combinations_with_replacement(PATTERNS, 3):
        counts, start = counts_of(answers)
        starts.setdefault(counts, set()).add(start)
    assert len(starts) == 2791
    assert all(counts.starts() == found for counts, found in starts.items())


def test_counts_that_no_answers_have_allow_no_start() -> None:
    realised = {counts_of(answers)[0] for answers in combinations_with_replacement(PATTERNS, 1)}
    for values in product((0, 1), repeat=10):
        counts = Counts(1, values[:4], values[4:8], *values[8:])
        assert bool(counts.starts()) == (counts in realised)


def test_accuracy_follows_from_the_start() -> None:
    full = counted(held("personamem_128k", "Gemini-2.5-flash", "full"))
    assert (full.forgotten, full.learnt) == ((41, 63, 60, 77), (104, 19, 11, 4))
    assert full.gains() == (63, 60, 74, 61)  # A_n - A_0 in questions of 322
    assert (min(full.starts()), max(full.starts())) == (161, 184)


def test_every_row_can_be_true_by_itself() -> None:
    assert all(counted(row).starts() for row in ROWS)


def test_t1_six_rows_of_mem0_start_elsewhere_than_the_other_memories_and_no_other_row_does() -> None:
    assert {(row.dataset, row.model, row.memory) for row in ROWS if row.doubt == "T1"} == MISFITS
    for dataset, model in GROUPS:
        rows = of(dataset, model)
        sound = [row for row in rows if (dataset, model, row.memory) not in MISFITS]
        assert common(sound)
        for row in rows:
            if row not in sound:
                assert max(counted(row).starts()) < min(common(sound))


def test_how_far_apart_the_starts_are() -> None:
    found = {}
    for dataset, model in GROUPS:
        rows = of(dataset, model)
        start = common([row for row in rows if row.doubt is None])
        found[dataset, model] = (min(start), max(start))
        for row in rows:
            if row.doubt:
                found[dataset, model] += (min(counted(row).starts()), max(counted(row).starts()))
    assert found == {
        ("personamem_32k", "GPT-4o-mini"): (101, 110),
        ("personamem_32k", "Gemini-2.5-flash"): (111, 125, 71, 93),
        ("personamem_32k", "DeepSeek-V3.2"): (117, 130, 78, 93),
        ("personamem_32k", "DeepSeek-V3.2-think"): (127, 132, 68, 87),
        ("personamem_128k", "GPT-4o-mini"): (149, 177),
        ("personamem_128k", "Gemini-2.5-flash"): (161, 184),
        ("personamem_128k", "DeepSeek-V3.2"): (177, 212),
        ("personamem_128k", "DeepSeek-V3.2-think"): (179, 203),
        ("dialsim", "GPT-4o-mini"): (261, 272),
        ("dialsim", "Gemini-2.5-flash"): (318, 358, 214, 221),
        ("dialsim", "DeepSeek-V3.2"): (246, 276, 215, 225),
        ("dialsim", "DeepSeek-V3.2-think"): (395, 433, 214, 222),
    }


def test_what_the_text_says_of_accuracy_fits_two_times_of_six() -> None:
    fits = {}
    for name, claim in claims().items():
        sound = [row for row in of(claim.dataset, claim.model) if row.doubt is None]
        fits[name] = sorted(claimed(claim, Fraction(1, 200)) & common(sound))
    assert fits == {
        "range_of_full": [173],  # .537 of 322
        "mean_of_memp": [154, 155, 156],
        "range_on_32k": [],
        "range_on_128k": [],
        "gain_of_rag": [],
        "best_on_32k": [],
    }
    # Nor do the others where the text is taken to be off by a whole hundredth.
    assert not any(claimed(claims()[name], Fraction(1, 100)) for name, starts in fits.items() if not starts)


def test_the_rate_of_always_right_answers_that_three_models_share_with_mem0_on_dialsim() -> None:
    assert {counted(held("dialsim", model, "mem0")).always for model in OTHERS} == {194}


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
def test_a_domain_stands_for_the_data_set_that_it_is_like(datasets, parameters, theirs) -> None:
    assert stands_for(Domain("d", "comem", datasets, "d", parameters)) == theirs


def test_a_row_names_its_figures_as_the_leaderboard_does() -> None:
    row = Row("d", "m", "full", 10, (0.1, 0.2, 0.3, 0.4), (0.5, 0.0, 0.0, 0.1), 0.6, 0.2)
    assert row.plain()["forgetting/checkpoint 3"] == 0.3 and row.plain()["all_wrong/all"] == 0.2
