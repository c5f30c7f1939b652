"""The entry index: search by text, vector or both, at any sequence number, in English and Chinese."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import factories
import pyarrow as pa
import pytest

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.resources.indexes.lance import LanceIndex, Moment, searchable
from memflow.resources.lake.columns import schema, to_arrays


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
END = Moment()


def batches(entries):
    """Return a function that reads the entries as Arrow batches, two at a time."""
    table = pa.Table.from_arrays(to_arrays("memory.indexes", entries), schema=schema("memory.indexes"))
    return lambda: iter(table.to_batches(2))


@pytest.fixture
def index(tmp_path):
    index = LanceIndex(tmp_path / "lance")
    assert index.rebuild("d", "full", batches(ENTRIES), "hash") == 5
    return index


@pytest.fixture
def table(index):
    return index.table("d", "full")


def ids(rows):
    return [row["entry_id"] for row in rows]


@pytest.mark.parametrize(
    ("text", "best"), [("black coffee", "e2"), ("上海的律师", "e3"), ("北京", "e4"), ("garden", "e5")]
)
def test_entry_search_finds_english_and_chinese_text(table, text, best):
    found = table.search(END, text=text)
    assert found[0]["entry_id"] == best
    assert [row["score"] for row in found] == sorted((row["score"] for row in found), reverse=True)


@pytest.mark.parametrize(("sequence", "alive"), [(0, []), (1, ["e1"]), (4, ["e1"]), (5, ["e2"]), (9, ["e2"])])
def test_entry_search_returns_entries_as_of_a_sequence_number(table, sequence, alive):
    moment = Moment(sequence=sequence)
    assert ids(table.search(moment, text="Caroline drinks")) == alive
    assert ids(table.search(moment, vector=[0.7, 0.7, 0.0], k=1)) == alive
    assert table.count(moment) == sum(
        row.since <= sequence < (sequence + 1 if row.until is None else row.until) for row in ENTRIES
    )


def test_entry_search_without_sequence_number_returns_entries_that_were_never_retired(table):
    [row] = table.search(END, text="Caroline drinks")
    assert (row["entry_id"], row["until"], row["sources"]) == ("e2", None, ["m2"])
    assert table.count(END) == 4
    [row] = table.search(Moment(sequence=1), text="Caroline drinks")
    assert (row["entry_id"], row["until"]) == ("e1", 5)


def test_vector_search_returns_the_nearest_entry_first_with_its_cosine(table):
    found = table.search(END, vector=[0.0, 2.0, 0.0], k=2)
    assert found[0]["entry_id"] == "e2"
    assert found[0]["score"] == pytest.approx(1.0)
    assert "e4" not in ids(table.search(END, vector=[0.0, 1.0, 0.0], k=10))


def test_hybrid_search_combines_text_and_vector_rankings(table):
    found = table.search(END, text="Caroline drinks", vector=[0.1, 1.0, 0.2])
    assert ids(found) == ["e2", "e3"]
    assert found[0]["score"] == pytest.approx(2 / 61)
    assert ids(table.search(END, text="Caroline drinks", vector=[0.1, 1.0, 0.0], k=1)) == ["e2"]


def test_entry_search_returns_only_entries_of_an_episode_and_of_kinds_that_are_not_ignored(table):
    assert ids(table.search(Moment("it's u2"), text="garden")) == ["e5"]
    assert table.search(Moment("u1"), text="garden") == []
    assert table.search(Moment(ignored={ENTRIES[4].kind}), text="garden") == []


def test_index_rebuild_replaces_only_the_entries_of_one_assistant(index):
    index.rebuild("d", "full@qwen", batches(ENTRIES[1:2]))
    index.rebuild("d", "full", batches(ENTRIES[2:3]), "other")
    assert ids(index.table("d", "full").search(END, text="Caroline 律师", k=9)) == ["e3"]
    assert ids(index.table("d", "full@qwen").search(END, text="Caroline", k=9)) == ["e2"]
    assert index.content("d", "full") == "other"
    assert index.content("d", "none") is None


def test_text_search_finds_entries_without_vectors(tmp_path):
    index = LanceIndex(tmp_path)
    index.rebuild("d", "bm25_message", batches([entry(4, "他喜欢在北京的公园里跑步", 3)]))
    table = index.table("d", "bm25_message")
    assert not table.has_vectors
    assert ids(table.search(END, text="公园")) == ["e4"]
    assert table.search(END, vector=[1.0, 2.0]) == []
    assert ids(table.search(END, text="公园", vector=[1.0, 2.0])) == ["e4"]


@pytest.mark.parametrize("query", [{"text": "tea"}, {"vector": [1.0]}, {"text": "tea", "vector": [1.0]}])
def test_index_of_no_entries_and_of_one_entry_can_be_searched(tmp_path, query):
    index = LanceIndex(tmp_path)
    assert index.rebuild("d", "none", batches([])) == 0
    assert index.table("d", "none").search(END, **query) == []
    index.rebuild("d", "one", batches([entry(1, "green tea", 1, vector=[1.0])]))
    assert ids(index.table("d", "one").search(END, **query)) == ["e1"]


def test_entry_index_rejects_invalid_searches_and_vectors(index, table):
    with pytest.raises(BadInput, match="neither a text nor a vector"):
        table.search(END)
    with pytest.raises(
        BadInput, match="the query vector has 2 numbers, but the vectors of the entries have 3"
    ):
        table.search(END, vector=[1.0, 0.0])
    with pytest.raises(MissingData, match=r"the entries of recent in d are not indexed .*`memflow search`"):
        index.table("d", "recent")
    with pytest.raises(BadInput, match=r"vectors of different lengths \(\[2, 3\]\)"):
        index.rebuild("d", "full", batches([ENTRIES[0], entry(9, "x", 1, vector=[1.0, 2.0])]))


def test_search_names_the_folder_of_an_index_that_cannot_be_read(index: LanceIndex):
    [folder] = index.root.glob("*.lance")
    for path in folder.rglob("data/*.lance"):
        path.write_bytes(b"damaged")
    with pytest.raises(DamagedFile, match=rf"{folder} .*Delete this folder and rerun"):
        index.table("d", "full").search(END, text="coffee")


@pytest.mark.parametrize("domain", ["amemgym_base~2", "amemgym_base.published~2"])
def test_entries_of_a_sample_are_indexed_apart_from_those_of_the_whole_domain(tmp_path, domain):
    index = LanceIndex(tmp_path / "a folder?")
    whole = domain.partition("~")[0]
    index.rebuild(domain, "rag@big", batches(ENTRIES[1:2]))
    index.rebuild(whole, "rag@big", batches(ENTRIES[2:]))
    assert ids(index.table(domain, "rag@big").search(END, text="Caroline")) == ["e2"]
    assert index.table(whole, "rag@big").search(END, text="Caroline") == []


def test_two_processes_that_build_the_same_index_do_so_one_after_another(tmp_path):
    def rebuild(number):
        # An index of its own, as each process has.
        return LanceIndex(tmp_path / "lance").rebuild("d", "full", batches(ENTRIES), content="hash")

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(rebuild, range(16))) == [5] * 16
    assert ids(LanceIndex(tmp_path / "lance").table("d", "full").search(END, text="Caroline")) == ["e2"]


def test_temporary_index_returns_ids_and_leaves_no_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with searchable(ENTRIES) as search:
        assert search("u1", 5, "Caroline drinks", 3) == ["e2"]
        assert search("u1", 1, [1.0, 0.0, 0.0], 1) == ["e1"]
    assert not [*Path(tmp_path).iterdir()]
