"""Preferences counted from small invented files in the formats of the published rating data sets."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memflow.benchmarks.membench.generation.preferences import MAX_ITEMS, MIN_ITEMS, Category
from memflow.benchmarks.membench.load import read
from memflow.benchmarks.registry import find_dataset
from memflow.errors import BadInput
from memflow.records import Record
from tests.reader_faults import reported_faults

WEIGHTS = {"Action": 1, "Comedy": 1, "Drama": 0, "Horror": 1}
GENRES = tuple(WEIGHTS)
Files = dict[str, bytes | str]


def _read(name: str, folder: Path, files: Files) -> list[Record]:
    """Return the records of a data set with these file contents."""
    paths = {}
    for source, content in files.items():
        paths[source] = folder / Path(source).name
        paths[source].write_bytes(content.encode() if isinstance(content, str) else content)
    return read(find_dataset(name), paths)


def _categories(records: list[Record]) -> dict[str, Category]:
    made = [Category.model_validate_json(record.content) for record in records]
    return {each.name: each for each in made}


def _films() -> list[tuple[int, str, tuple[str, ...]]]:
    """Return five films of each single genre (1 to 20), and film 21 with two genres."""
    alone = [
        (1 + MIN_ITEMS * genre + film, f"{name} {film} (2001)", (name,))
        for genre, name in enumerate(GENRES)
        for film in range(MIN_ITEMS)
    ]
    return [*alone, (21, "Both Ways (2001)", ("Action", "Comedy"))]


def _stars() -> list[tuple[int, int, str]]:
    """User 1 likes two films of Comedy, and 21; 2 two of Horror and one of Drama; 3 likes none; 4 likes all."""
    rated = [
        (1, 6, "5"),
        (1, 7, "4.0"),
        (1, 21, "4"),
        (2, 16, "5"),
        (2, 17, "4"),
        (2, 11, "4"),
        (2, 1, "3.5"),
    ]
    return [*rated, (3, 1, "1"), *((4, film, "5") for film, _, _ in _films())]


def _movielens() -> Files:
    movies = [f'{film},"{title}",{"|".join(genres)}' for film, title, genres in _films()]
    movies.append("22,Nothing Known (1999),(no genres listed)")
    ratings = [f"{user},{film},{stars},964982703" for user, film, stars in _stars()]
    return {
        "movielens/movies.csv": "\n".join(["movieId,title,genres", *movies, ""]),
        "movielens/ratings.csv": "\r\n".join(["userId,movieId,rating,timestamp", *ratings, ""]),
    }


def _movielens_100k() -> Files:
    names = ("unknown", *GENRES)
    items = [
        f"{film}|{title}|01-Jan-1995|||" + "|".join(str(int(name in genres)) for name in names)
        for film, title, genres in _films()
    ]
    items[0] = items[0].replace("Action 0", "Café Action")
    ratings = [f"{user}\t{film}\t{int(float(stars))}\t881250949" for user, film, stars in _stars()]
    return {
        "movielens_100k/u.genre": "\n".join([*(f"{name}|{at}" for at, name in enumerate(names)), "", ""]),
        "movielens_100k/u.item": "\n".join(items).encode("latin-1"),
        "movielens_100k/u.data": "\n".join(ratings),
    }


TAGS = dict(zip(GENRES, ("sweet", "spicy", "savory", "citrus"), strict=True))


def _foodcom() -> Files:
    recipes = [
        f"{title}   dish,{film},10,\"['60-minutes-or-less', 'taste-mood', "
        f'{", ".join(repr(TAGS[name]) for name in genres)}]"'
        for film, title, genres in _films()
    ]
    said = [
        f'{user},{film},2003-02-17,{stars},"Good,\nand ""quick""."'
        for user, film, stars in _stars()
        if "." not in stars
    ]
    said.append("1,7,2003-02-17,4,fine")
    return {
        "foodcom/RAW_recipes.csv": "\n".join(["name,id,minutes,tags", *recipes]),
        "foodcom/RAW_interactions.csv": "\n".join(["user_id,recipe_id,date,rating,review", *said]),
    }


def _lines(values: list[dict[str, object]]) -> str:
    return "\n".join(map(json.dumps, values))


def _goodreads() -> Files:
    genres: list[dict[str, object]] = [
        {"book_id": str(book), "genres": {**dict.fromkeys(names, 3), "poetry": 1}}
        for book, _, names in _films()
    ]
    genres.append({"book_id": "99", "genres": {}})
    # Another edition of book 1: its title is there once.
    genres.append({"book_id": "98", "genres": {"Action": 3}})
    books: list[dict[str, object]] = [
        {"book_id": str(book), "title": title, "work_id": "1"} for book, title, _ in _films()
    ]
    books.append({"book_id": "98", "title": " ACTION 0  (2001)"})
    read: list[dict[str, object]] = [
        {"user_id": f"u{user}", "book_id": str(book), "rating": int(float(stars)), "is_read": True}
        for user, book, stars in [*_stars(), (4, 98, "5")]
    ]
    read.append({"user_id": "u1", "book_id": "6", "rating": 0, "is_read": False})
    return {
        "goodreads/goodreads_book_genres_initial.json": _lines(genres),
        "goodreads/goodreads_books.json.gz": gzip.compress(_lines(books).encode()),
        "goodreads/goodreads_interactions_dedup.json.gz": gzip.compress(_lines(read).encode()),
    }


@pytest.mark.parametrize(("name", "files"), [("movielens", _movielens), ("movielens_100k", _movielens_100k)])
def test_favorite_category_of_movielens_user_is_most_frequent_liked_category(
    name: str, files: Callable[[], Files], tmp_path: Path
) -> None:
    records = _read(name, tmp_path, files())
    found = _categories(records)
    assert list(found) == list(GENRES)
    # User 1: Comedy 3, Action 1. User 2: Horror 2, Drama 1. User 4: Action 6 and Comedy 6, the first of them.
    assert {each.name: each.weight for each in found.values()} == WEIGHTS
    assert all(len(each.items) == MIN_ITEMS for each in found.values())
    assert set(found["Comedy"].items[:2]) == {
        "Comedy 0 (2001)",
        "Comedy 1 (2001)",
    }  # Liked by two users each.
    assert "Both Ways (2001)" not in {title for each in found.values() for title in each.items}
    assert [record.record_id for record in records] == [f"likes/movie/{genre}" for genre in GENRES]
    assert all(record.source.startswith(name) and len(record.sha256) == 64 for record in records)


def test_movielens_100k_titles_are_decoded_as_latin_1(tmp_path: Path) -> None:
    found = _categories(_read("movielens_100k", tmp_path, _movielens_100k()))
    assert "Café Action (2001)" in found["Action"].items


def test_foodcom_reader_reads_taste_tags_and_multiline_reviews(tmp_path: Path) -> None:
    found = _categories(_read("foodcom", tmp_path, _foodcom()))
    assert sorted(found) == ["Citrusy", "Savoury", "Spicy", "Sweet"]
    assert found["Spicy"].items[0] == "Comedy 0 (2001) dish"
    assert {each.topic for each in found.values()} == {"food"}
    # User 1, and user 4 who likes as much of Sweet, which comes later.
    assert (found["Spicy"].weight, found["Sweet"].weight, found["Citrusy"].weight) == (2, 0, 1)


def test_goodreads_reader_assigns_each_title_to_its_most_voted_genre(tmp_path: Path) -> None:
    found = _categories(_read("goodreads", tmp_path, _goodreads()))
    assert sorted(found) == list(GENRES)
    titles = [title for each in found.values() for title in each.items]
    assert len({title.lower() for title in titles}) == len(titles)
    assert "Both Ways (2001)" in found["Action"].items  # As many votes for Comedy, which comes later.


def test_goodreads_csv_reader_needs_and_uses_book_id_map(tmp_path: Path) -> None:
    files = _goodreads()
    del files["goodreads/goodreads_interactions_dedup.json.gz"]
    rows = [f"{user},{book + 1000},1,{int(float(stars))},0" for user, book, stars in _stars()]
    files["goodreads/goodreads_interactions.csv"] = "\n".join(
        ["user_id,book_id,is_read,rating,is_reviewed", *rows]
    )
    with pytest.raises(BadInput, match=r"goodreads_interactions.csv: book_id_map.csv, which maps"):
        _read("goodreads", tmp_path, files)
    numbers = [f"{book + 1000},{book}" for book, _, _ in _films()]
    files["goodreads/book_id_map.csv"] = "\n".join(["book_id_csv,book_id", *numbers])
    found = _categories(_read("goodreads", tmp_path, files))
    assert {each.name: each.weight for each in found.values()} == WEIGHTS


def test_preference_category_keeps_its_most_liked_items(tmp_path: Path) -> None:
    files = _movielens()
    more = [f"{film},Long Drama {film},Drama" for film in range(1000, 1000 + 2 * MAX_ITEMS)]
    liked = [f"7,{film},5,1" for film in range(1000, 1000 + 2 * MAX_ITEMS)]
    files["movielens/movies.csv"] = str(files["movielens/movies.csv"]) + "\n".join(more)
    files["movielens/ratings.csv"] = str(files["movielens/ratings.csv"]) + "\n".join(liked)
    drama = _categories(_read("movielens", tmp_path, files))["Drama"]
    assert len(drama.items) == MAX_ITEMS
    assert drama.items[0] == "Drama 0 (2001)"  # Users 2 and 4 like it.
    assert drama.weight == 1


@pytest.mark.parametrize(
    ("name", "files", "source", "damage", "message"),
    [
        ("movielens", _movielens, "ratings.csv", lambda text: text.replace(b"userId", b"user"), "userId"),
        ("movielens", _movielens, "ratings.csv", lambda text: text[:55], "line 3: the line has"),
        ("movielens", _movielens, "ratings.csv", lambda text: text.replace(b",4.0,", b",four,"), "'four'"),
        ("movielens", _movielens, "ratings.csv", lambda text: text[:33], "0 of 0 positive ratings"),
        ("movielens", _movielens, "movies.csv", lambda text: text + b'9,"Cut', "truncated or invalid CSV"),
        ("movielens", _movielens, "movies.csv", lambda text: text + b"\xff", "not UTF-8"),
        ("movielens", _movielens, "movies.csv", lambda text: text[:46], "of the same release"),
        ("movielens", _movielens, "movies.csv", lambda text: text.replace(b"Horror\n", b"Drama\n"), "only 3"),
        ("movielens_100k", _movielens_100k, "u.data", lambda text: text[:20], "line 2: the line has"),
        ("movielens_100k", _movielens_100k, "u.item", lambda text: text[:70], "line 2: the line has"),
        ("movielens_100k", _movielens_100k, "u.genre", lambda text: text[:10], "u.item: line 1: the line"),
        ("foodcom", _foodcom, "RAW_recipes.csv", lambda text: text.replace(b"tags", b"kinds"), r"columns tags"),
        ("foodcom", _foodcom, "RAW_interactions.csv", lambda text: text[:-200], "truncated|columns"),
        ("goodreads", _goodreads, "goodreads_interactions_dedup.json.gz", lambda raw: raw[:-20], "truncated"),
        ("goodreads", _goodreads, "goodreads_books.json.gz", lambda raw: b"no" + raw, "not compressed with gzip"),
        ("goodreads", _goodreads, "initial.json", lambda text: text.replace(b"genres", b"kinds", 1), "1: at genres"),
        ("goodreads", _goodreads, "initial.json", lambda text: text[:-5], "truncated or invalid JSON"),
    ],
)  # fmt: skip
def test_rating_reader_reports_fault_in_file_with_its_name(
    name: str,
    files: Callable[[], Files],
    source: str,
    damage: Callable[[bytes], bytes],
    message: str,
    tmp_path: Path,
) -> None:
    contents = files()
    (key,) = (each for each in contents if each.endswith(source))
    content = contents[key]
    contents[key] = damage(content.encode() if isinstance(content, str) else content)
    faults = reported_faults(lambda: _read(name, tmp_path, contents))
    assert re.search(message, faults) and f"{name}/" in faults


@pytest.mark.parametrize(
    ("name", "files", "source", "line", "fault"),
    [
        ("movielens", _movielens, "ratings.csv", "7,1", "the line has 2 columns"),
        ("movielens", _movielens, "ratings.csv", "7,1,,0", "the stars are not a number: ''"),
        ("movielens", _movielens, "movies.csv", "99", "the line has 1 columns"),
        ("movielens_100k", _movielens_100k, "u.data", "7\t1", "the line has 2 columns"),
        ("movielens_100k", _movielens_100k, "u.item", "99|Cut", "the line has 2 columns"),
        ("foodcom", _foodcom, "RAW_interactions.csv", "7", "the line has 1 columns"),
        ("goodreads", _goodreads, "initial.json", '{"book_id": "9", "genres": null}', "at genres"),
        ("goodreads", _goodreads, "initial.json", '{"book_id": "9", "gen', "truncated or invalid JSON"),
    ],
)
def test_invalid_line_of_ratings_is_quarantined_and_changes_no_category(
    name: str, files: Callable[[], Files], source: str, line: str, fault: str, tmp_path: Path
) -> None:
    contents = files()
    for folder in ("valid", "damaged"):
        (tmp_path / folder).mkdir()
    valid = _read(name, tmp_path / "valid", contents)
    (key,) = (each for each in contents if each.endswith(source))
    content = contents[key]
    raw = content.encode() if isinstance(content, str) else content
    contents[key] = raw.rstrip() + f"\n{line}\n".encode()
    found = _read(name, tmp_path / "damaged", contents)
    kept = [(record.record_id, record.content) for record in found if record.reason is None]
    assert kept == [(record.record_id, record.content) for record in valid]
    (invalid,) = [record for record in found if record.reason is not None]
    assert fault in str(invalid.reason) and invalid.source == key
