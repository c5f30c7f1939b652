"""Published rating data, in the forms that they come in: MovieLens, Food.com and Goodreads -> categories.

A rating is positive from 4 of 5 on; one of 0 says that none was given. What is made of ratings is ratings.py.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from memflow.benchmarks.membench.generation.preferences import Category, Topic
from memflow.benchmarks.membench.generation.rating_counts import Items, Ratings, Titles, categories
from memflow.benchmarks.membench.generation.streamed_file import Stream
from memflow.errors import BadInput

POSITIVE = 4.0
"""From which rating on, of at most 5, something is liked."""
TASTES = {
    "sweet": "Sweet",
    "savory": "Savoury",
    "spicy": "Spicy",
    "citrus": "Citrusy",
    "chocolate": "Chocolatey",
    "cheese": "Cheesy",
    "nuts": "Nutty",
}
"""Food.com's tags that tell of a taste, and what it is called."""
_NO_GENRE = ("(no genres listed)", "unknown")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_DESCRIBED = 5
"""Columns of u.item before the genres: id, title, two dates, an address."""


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


Text = Annotated[str, BeforeValidator(str)]
"""An id, which some files write as a number."""


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


Files = Mapping[str, Stream]
"""A data set's files by their names without folders."""


def movielens_100k(files: Files) -> list[Category]:
    """MovieLens 100K: u.data (tabs), u.item (bars, Latin-1) and u.genre, which names u.item's last columns."""
    names = [name for name, _ in files["u.genre"].cells(2, "|")]
    items, titles = {}, {}
    for row in files["u.item"].cells(_DESCRIBED + len(names), "|", "latin-1"):
        flags = zip(names, row[_DESCRIBED:], strict=True)
        items[row[0]] = tuple(name for name, flag in flags if flag == "1" and name not in _NO_GENRE)
        titles[row[0]] = row[1]
    ratings = files["u.data"]
    rated = ((user, item, stars) for user, item, stars, _ in ratings.cells(4, "\t"))
    return _made("movie", ratings, rated, items, titles)


def movielens(files: Files) -> list[Category]:
    """MovieLens in its later form: ratings.csv and movies.csv, genres divided by bars."""
    items, titles = {}, {}
    for item, title, genres in files["movies.csv"].table("movieId", "title", "genres"):
        items[item] = tuple(name for name in genres.split("|") if name and name not in _NO_GENRE)
        titles[item] = title
    ratings = files["ratings.csv"]
    return _made("movie", ratings, ratings.table("userId", "movieId", "rating"), items, titles)


def foodcom(files: Files) -> list[Category]:
    """Food.com: RAW_interactions.csv and RAW_recipes.csv; a recipe's tastes are among its tags."""
    items, titles = {}, {}
    for item, title, tags in files["RAW_recipes.csv"].table("id", "name", "tags"):
        told = (one or other for one, other in _QUOTED.findall(tags))
        items[item] = tuple(TASTES[tag] for tag in told if tag in TASTES)
        titles[item] = title
    ratings = files["RAW_interactions.csv"]
    return _made("food", ratings, ratings.table("user_id", "recipe_id", "rating"), items, titles)


def goodreads(files: Files) -> list[Category]:
    """Goodreads: interactions (JSON lines, or CSV with book_id_map.csv), genres with their votes, and titles.

    A book's category is the genre that most readers gave it. Where there are interactions of both forms, those in JSON
    are read.
    """
    items: dict[str, tuple[str, ...]] = {}
    for one in _named(files, "goodreads_book_genres"):
        for book in one.objects(_Genres):
            best = min(book.genres, key=lambda name: (-book.genres[name], name), default=None)
            items[book.book_id] = () if best is None else (best[:1].upper() + best[1:],)
    described = _named(files, "goodreads_books")

    def titles(wanted: frozenset[str]) -> dict[str, str]:
        books = (book for one in described for book in one.objects(_Book))
        return {book.book_id: book.title for book in books if book.book_id in wanted}

    held = _named(files, "goodreads_interactions")
    packed = [one for one in held if ".json" in one.source]
    if packed:
        rated = (
            (each.user_id, each.book_id, str(each.rating))
            for one in packed
            for each in one.objects(_Interaction)
        )
        return _made("book", packed[0], rated, items, titles)
    if "book_id_map.csv" not in files:
        raise held[0].bad("book_id_map.csv, which says which books its numbers are, is not there")
    books = {number: book for number, book in files["book_id_map.csv"].table("book_id_csv", "book_id")}
    rows = (row for one in held for row in one.table("user_id", "book_id", "rating"))
    numbered = ((user, books.get(number, ""), stars) for user, number, stars in rows)
    return _made("book", held[0], numbered, items, titles)


READERS: dict[str, Callable[[Files], list[Category]]] = {
    "movielens_100k": movielens_100k,
    "movielens": movielens,
    "foodcom": foodcom,
    "goodreads": goodreads,
}
"""The reader of each data set of ratings."""


def by_name(streams: Sequence[Stream]) -> dict[str, Stream]:
    """Files by their names without folders."""
    return {PurePosixPath(one.source).name: one for one in streams}


def _named(files: Files, beginning: str) -> list[Stream]:
    return [one for name, one in files.items() if name.startswith(beginning)]


def _made(
    topic: Topic,
    source: Stream,
    rated: Iterable[tuple[str, ...]],
    items: Items,
    titles: Titles | Mapping[str, str],
) -> list[Category]:
    """The categories that (user, item, stars) come to. Raises BadInput naming the file of the ratings."""
    ratings = Ratings(items)
    positive: dict[str, bool] = {}
    for number, (user, item, stars) in enumerate(rated, start=1):
        if stars not in positive:  # Of millions of ratings, few are written differently.
            try:
                positive[stars] = float(stars) >= POSITIVE
            except ValueError as wrong:
                raise source.bad(f"rating {number} is no number: {stars!r}") from wrong
        if positive[stars]:
            ratings.like(user, item)
    called = titles if callable(titles) else lambda wanted: titles
    try:
        return categories(topic, ratings, called)
    except BadInput as wrong:
        raise source.bad(str(wrong)) from wrong
