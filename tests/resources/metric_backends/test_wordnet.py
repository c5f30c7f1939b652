"""Synonyms from WordNet, with a small database in its format."""

from pathlib import Path

import pytest

from memflow.errors import BadInput, MissingData
from memflow.resources.metric_backends.wordnet import PARTS, WordNet

LICENCE = "  1 This is no part of the data.  \n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a database with house (noun and verb senses), child (irregular plural) and big (marked "(a)")."""
    data = {
        "noun": [
            "06 n 02 house 0 home 1 000 | where one lives",
            "14 n 02 house 2 House_of_Commons 0 000 | who debate",
            "18 n 02 child 0 kid 0 000 | young",
        ],
        "verb": ["41 v 02 house 0 Put_up 0 000 01 + 08 00 | give room", "41 v 02 bake 0 Cook 0 000 | heat"],
        "adj": ["00 a 02 big(a) 0 large(ip) 0 000 | not small"],
        "adv": [],
    }
    words = {
        "noun": {"house": [0, 1], "child": [2]},
        "verb": {"house": [0], "bake": [1]},
        "adj": {"big": [0]},
        "adv": {},
    }
    exceptions = {"noun": "children child\n", "verb": "", "adj": "bigger big\n", "adv": ""}
    for part in PARTS:
        text, offsets = LICENCE, []
        for line in data[part]:
            offsets.append(len(text))
            text += f"{len(text):08} {line}  \n"
        (tmp_path / f"data.{part}").write_text(text)
        index = "".join(
            f"{word} {part[0]} {len(at)} 1 @ {len(at)} 0 {' '.join(f'{offsets[n]:08}' for n in at)}  \n"
            for word, at in words[part].items()
        )
        (tmp_path / f"index.{part}").write_text(LICENCE + index)
        (tmp_path / f"{part}.exc").write_text(exceptions[part])
    return tmp_path


@pytest.mark.parametrize(
    ("words", "synonyms"),
    [
        (("house", "Houses"), {"house", "home"}),
        (("big", "bigger"), {"big", "large"}),
        (("baking", "bakes"), {"bake", "Cook"}),
        (("child", "children"), {"child", "kid"}),
        (("hous", ""), set()),
    ],
)
def test_wordnet_returns_single_word_synonyms_of_words_and_inflected_forms(
    folder: Path, words: tuple[str, ...], synonyms: set[str]
) -> None:
    assert {WordNet(folder).of(word) for word in words} == {frozenset(synonyms)}


def test_wordnet_accepts_an_nltk_data_folder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    nltk_data = tmp_path_factory.mktemp("nltk_data")
    (nltk_data / "corpora").mkdir()
    (nltk_data / "corpora" / "wordnet").symlink_to(folder)
    there = WordNet(nltk_data)
    assert there.of("child") == {"child", "kid"}
    assert there.fingerprint == WordNet(folder).fingerprint


def test_wordnet_fingerprint_changes_only_with_the_database_files(folder: Path) -> None:
    before = WordNet(folder).fingerprint
    (folder / "README").write_text("no data")
    assert WordNet(folder).fingerprint == before
    with (folder / "noun.exc").open("a") as file:
        file.write("oxen ox\n")
    assert WordNet(folder).fingerprint != before


def test_wordnet_rejects_a_folder_without_its_database_files(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="wordnet-base"):
        WordNet(tmp_path / "none")
    (folder / "verb.exc").unlink()
    with pytest.raises(MissingData, match=r"verb\.exc is missing"):
        WordNet(folder)


def test_invalid_wordnet_index_error_names_the_line(folder: Path) -> None:
    with (folder / "index.adv").open("a") as file:
        file.write("well r many\n")
    with pytest.raises(BadInput, match=r"index\.adv, line 2"):
        WordNet(folder).of("well")
