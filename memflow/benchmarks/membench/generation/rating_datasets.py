"""Readers of published ratings (MovieLens, Food.com, Goodreads) that return preference categories.

Ratings of 4 or 5 are positive; 0 means no rating. `rating_counts.py` counts them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from memflow.benchmarks.membench.generation.preferences import Category, Topic
from memflow.benchmarks.membench.generation.rating_counts import (
    Items,
    PositiveRatings,
    Titles,
    build_categories,
)
from memflow.benchmarks.membench.generation.streamed_file import StreamedFile
from memflow.errors import BadInput

MIN_POSITIVE_RATING = 4.0
"""Lowest positive rating, of 5."""
TASTE_TAGS = {
    "sweet": "Sweet",
    "savory": "Savoury",
    "spicy": "Spicy",
    "citrus": "Citrusy",
    "chocolate": "Chocolatey",
    "cheese": "Cheesy",
    "nuts": "Nutty",
}
"""Food.com tags that name a taste, with their labels."""
_NO_GENRE = ("(no genres listed)", "unknown")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_COLUMNS_BEFORE_GENRES = 5
"""Columns of u.item before the genres: id, title, two dates, URL."""


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


Text = Annotated[str, BeforeValidator(str)]
"""An id; some files have numbers."""


class _Interaction(_Shape):
    user_id: Text
    book_id: Text
    rating: float


class _Genres(_Shape):
    book_id: Text
    genres: dict[str, int]


class _Book(_Shape):
    book_id: Text
    title: str


Files = Mapping[str, StreamedFile]
"""Files of a data set by name without folder."""


def movielens_100k(files: Files) -> list[Category]:
    """Return the categories of MovieLens 100K, from u.data (tabs), u.item (bars, Latin-1) and u.genre (names)."""
    names = [name for name, _ in files["u.genre"].split_lines(2, "|")]
    items, titles = {}, {}
    for row in files["u.item"].split_lines(_COLUMNS_BEFORE_GENRES + len(names), "|", "latin-1"):
        flags = zip(names, row[_COLUMNS_BEFORE_GENRES:], strict=True)
        items[row[0]] = tuple(name for name, flag in flags if flag == "1" and name not in _NO_GENRE)
        titles[row[0]] = row[1]
    ratings = files["u.data"]
    rated = ((user, item, stars) for user, item, stars, _ in ratings.split_lines(4, "\t"))
    return _build_categories("movie", ratings, rated, items, titles)


def movielens(files: Files) -> list[Category]:
    """Return the categories of later MovieLens releases: ratings.csv and movies.csv, with genres separated by bars."""
    items, titles = {}, {}
    for item, title, genres in files["movies.csv"].csv_columns("movieId", "title", "genres"):
        items[item] = tuple(name for name in genres.split("|") if name and name not in _NO_GENRE)
        titles[item] = title
    ratings = files["ratings.csv"]
    return _build_categories(
        "movie", ratings, ratings.csv_columns("userId", "movieId", "rating"), items, titles
    )


def foodcom(files: Files) -> list[Category]:
    """Return the categories of Food.com (RAW_interactions.csv and RAW_recipes.csv), taken from a recipe's tags."""
    items, titles = {}, {}
    for item, title, tags in files["RAW_recipes.csv"].csv_columns("id", "name", "tags"):
        told = (one or other for one, other in _QUOTED.findall(tags))
        items[item] = tuple(TASTE_TAGS[tag] for tag in told if tag in TASTE_TAGS)
        titles[item] = title
    ratings = files["RAW_interactions.csv"]
    return _build_categories(
        "food", ratings, ratings.csv_columns("user_id", "recipe_id", "rating"), items, titles
    )


def goodreads(files: Files) -> list[Category]:
    """Return the categories of Goodreads, from interactions (JSON, or CSV with book_id_map.csv), genre votes and
    titles.

    A book's category is the genre with most votes. JSON interactions take precedence over CSV.
    """
    items: dict[str, tuple[str, ...]] = {}
    for one in _files_with_prefix(files, "goodreads_book_genres"):
        for book in one.json_lines(_Genres):
            best = min(book.genres, key=lambda name: (-book.genres[name], name), default=None)
            items[book.book_id] = () if best is None else (best[:1].upper() + best[1:],)
    described = _files_with_prefix(files, "goodreads_books")

    def titles(wanted: frozenset[str]) -> dict[str, str]:
        books = (book for one in described for book in one.json_lines(_Book))
        return {book.book_id: book.title for book in books if book.book_id in wanted}

    interactions = _files_with_prefix(files, "goodreads_interactions")
    packed = [one for one in interactions if ".json" in one.source]
    if packed:
        rated = (
            (each.user_id, each.book_id, str(each.rating))
            for one in packed
            for each in one.json_lines(_Interaction)
        )
        return _build_categories("book", packed[0], rated, items, titles)
    if "book_id_map.csv" not in files:
        raise interactions[0].bad("book_id_map.csv, which maps the book numbers of this file, is missing")
    books = {number: book for number, book in files["book_id_map.csv"].csv_columns("book_id_csv", "book_id")}
    rows = (row for one in interactions for row in one.csv_columns("user_id", "book_id", "rating"))
    numbered = ((user, books.get(number, ""), stars) for user, number, stars in rows)
    return _build_categories("book", interactions[0], numbered, items, titles)


RATING_READERS: dict[str, Callable[[Files], list[Category]]] = {
    "movielens_100k": movielens_100k,
    "movielens": movielens,
    "foodcom": foodcom,
    "goodreads": goodreads,
}
"""Readers by data set."""


def files_by_name(streams: Sequence[StreamedFile]) -> dict[str, StreamedFile]:
    """Return the files by name, without the folder."""
    return {PurePosixPath(one.source).name: one for one in streams}


def _files_with_prefix(files: Files, beginning: str) -> list[StreamedFile]:
    return [one for name, one in files.items() if name.startswith(beginning)]


def _build_categories(
    topic: Topic,
    source: StreamedFile,
    rated: Iterable[tuple[str, ...]],
    items: Items,
    titles: Titles | Mapping[str, str],
) -> list[Category]:
    """Return the categories from (user, item, stars) triples, without ratings whose stars are not a number.

    Raises BadInput with the ratings file.
    """
    ratings = PositiveRatings(items)
    positive: dict[str, bool] = {}
    for number, (user, item, stars) in enumerate(rated, start=1):
        if stars not in positive:  # Of millions of ratings, few are written differently.
            try:
                positive[stars] = float(stars) >= MIN_POSITIVE_RATING
            except ValueError:
                source.omit(f"rating {number}", [user, item, stars], f"the stars are not a number: {stars!r}")
                continue
        if positive[stars]:
            ratings.like(user, item)
    called = titles if callable(titles) else lambda wanted: titles
    try:
        return build_categories(topic, ratings, called)
    except BadInput as wrong:
        raise source.bad(str(wrong)) from wrong
