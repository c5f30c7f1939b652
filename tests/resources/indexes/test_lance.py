"""The entry index: search by text, vector or both, at any sequence number, in English and Chinese."""

from concurrent.futures import ThreadPoolExecutor

import factories
import pyarrow as pa
import pytest

from memflow.errors import BadInput, MissingData
from resources.indexes.lance import LanceIndex
from resources.lake.columns import schema, to_arrays


def entry(number, text, since, *, until=None, vector=None, episode="u1"):
    given = {"since": since, "until": until, "vector": vector, "episode_id": episode}
    return factories.entry(entry_id=f"e{number}", text=text, sources=[f"m{number}"], **given)


ENTRIES = [
    entry(1, "Caroline drinks green tea every morning", 1, until=5, vector=[1.0, 0.0, 0.0]),
    entry(2, "Caroline drinks black coffee now", 5, vector=[0.0, 1.0, 0.0]),
    entry(3, "她搬到了上海，在一家律师事务所工作", 2, vector=[0.0, 0.0, 1.0]),
    entry(4, "他喜欢在北京的公园里跑步", 3),
    entry(5, "Mel's garden", 1, episode="it's u2"),
]


def batches(entries):
    """Return a function that reads the entries as Arrow batches, two at a time."""
    table = pa.Table.from_arrays(to_arrays("memory.indexes", entries), schema=schema("memory.indexes"))
    return lambda: iter(table.to_batches(2))


@pytest.fixture
def index(tmp_path):
    index = LanceIndex(tmp_path / "lance")
    assert index.rebuild("d", "full", batches(ENTRIES)) == 5
    return index


def ids(rows):
    return [row["entry_id"] for row in rows]


@pytest.mark.parametrize(
    ("text", "best"), [("green tea", "e1"), ("上海的律师", "e3"), ("北京", "e4"), ("garden", "e5")]
)
def test_entry_search_finds_english_and_chinese_text(index, text, best):
    found = index.search("d", "full", text=text)
    assert found[0]["entry_id"] == best
    assert [row["score"] for row in found] == sorted((row["score"] for row in found), reverse=True)


@pytest.mark.parametrize(("sequence", "alive"), [(0, []), (1, ["e1"]), (4, ["e1"]), (5, ["e2"]), (9, ["e2"])])
def test_entry_search_returns_entries_as_of_a_sequence_number(index, sequence, alive):
    assert ids(index.search("d", "full", text="Caroline drinks", sequence=sequence)) == alive
    found = index.search("d", "full", vector=[0.7, 0.7, 0.0], sequence=sequence, k=1)
    assert ids(found) == alive


def test_entry_search_without_sequence_number_returns_retired_entries(index):
    found = index.search("d", "full", text="Caroline drinks")
    assert sorted(ids(found)) == ["e1", "e2"]
    assert {row["entry_id"]: row["until"] for row in found} == {"e1": 5, "e2": None}
    assert found[0]["sources"] == [f"m{found[0]['entry_id'][1:]}"]


def test_vector_search_returns_the_nearest_entry_first_with_its_cosine(index):
    found = index.search("d", "full", vector=[0.0, 2.0, 0.0], k=2)
    assert found[0]["entry_id"] == "e2"
    assert found[0]["score"] == pytest.approx(1.0)
    assert "e4" not in ids(index.search("d", "full", vector=[0.0, 1.0, 0.0], k=10))


def test_hybrid_search_combines_text_and_vector_rankings(index):
    found = index.search("d", "full", text="Caroline drinks", vector=[0.1, 1.0, 0.0])
    assert found[0]["entry_id"] == "e2"
    assert set(ids(found)) == {"e1", "e2", "e3"}
    assert ids(index.search("d", "full", text="Caroline drinks", vector=[0.1, 1.0, 0.0], k=1)) == ["e2"]


def test_entry_search_returns_only_entries_of_the_given_episode(index):
    assert ids(index.search("d", "full", text="garden", episode="it's u2")) == ["e5"]
    assert index.search("d", "full", text="garden", episode="u1") == []


def test_index_rebuild_replaces_only_the_entries_of_one_assistant(index):
    index.rebuild("d", "full@qwen", batches(ENTRIES[:1]))
    index.rebuild("d", "full", batches(ENTRIES[1:2]))
    assert ids(index.search("d", "full", text="Caroline", k=9)) == ["e2"]
    assert ids(index.search("d", "full@qwen", text="Caroline", k=9)) == ["e1"]


def test_text_search_finds_entries_without_vectors(tmp_path):
    index = LanceIndex(tmp_path)
    index.rebuild("d", "bm25_message", batches([entry(4, "他喜欢在北京的公园里跑步", 3)]))
    assert ids(index.search("d", "bm25_message", text="公园")) == ["e4"]
    assert index.search("d", "bm25_message", vector=[1.0, 2.0]) == []
    assert ids(index.search("d", "bm25_message", text="公园", vector=[1.0, 2.0])) == ["e4"]


def test_index_of_a_memory_without_entries_returns_no_results(tmp_path):
    index = LanceIndex(tmp_path)
    assert index.rebuild("d", "none", batches([])) == 0
    assert index.search("d", "none", text="anything") == []
    assert index.search("d", "none", vector=[1.0]) == []
    assert index.search("d", "none", text="anything", vector=[1.0]) == []


def test_entry_index_rejects_invalid_searches_and_vectors(index):
    with pytest.raises(BadInput, match="neither a text nor a vector"):
        index.search("d", "full")
    with pytest.raises(
        BadInput, match="the query vector has 2 numbers, but the vectors of the entries have 3"
    ):
        index.search("d", "full", vector=[1.0, 0.0])
    with pytest.raises(MissingData, match=r"the entries of recent in d are not indexed .* memory/indexes"):
        index.search("d", "recent", text="tea")
    with pytest.raises(BadInput, match=r"vectors of different lengths \(\[2, 3\]\)"):
        index.rebuild("d", "full", batches([ENTRIES[0], entry(9, "x", 1, vector=[1.0, 2.0])]))


@pytest.mark.parametrize("domain", ["amemgym_base~2", "amemgym_base.published~2"])
def test_entries_of_a_sample_are_indexed_apart_from_those_of_the_whole_domain(tmp_path, domain):
    index = LanceIndex(tmp_path / "lance")
    whole = domain.partition("~")[0]
    index.rebuild(domain, "rag@big", batches(ENTRIES[:2]))
    index.rebuild(whole, "rag@big", batches(ENTRIES[1:]))
    assert sorted(ids(index.search(domain, "rag@big", text="Caroline"))) == ["e1", "e2"]
    assert ids(index.search(whole, "rag@big", text="Caroline")) == ["e2"]


def test_two_processes_that_build_the_same_index_do_so_one_after_another(tmp_path):
    def rebuild(number):
        # An index of its own, as each process has.
        return LanceIndex(tmp_path / "lance").rebuild("d", "full", batches(ENTRIES), content="hash")

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(rebuild, range(16))) == [5] * 16
    assert LanceIndex(tmp_path / "lance").damage("d", "full") is None
