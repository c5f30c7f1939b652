"""The content hash of rows equals the hash of their fields as JSON, and excludes the columns that measure a run."""

from dataclasses import fields, replace
from hashlib import sha256

import pytest
from factories import reply
from hypothesis import given
from hypothesis import strategies as st

from memflow.fingerprint import digest
from memflow.records import MEASURED, TABLES, columns
from resources.lake.row_digest import RowDigest

TEXTS = st.text(st.characters(exclude_categories=()), max_size=4)
VALUES = {
    str: TEXTS,
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    list[str]: st.lists(TEXTS, max_size=3),
    list[float]: st.lists(st.integers(-9, 9) | st.floats(-1, 1), max_size=3),
}


def expected_digest(rows):
    """Return the hash as it is specified: the digests of the rows' fields, hashed in order."""
    plain = [{each.name: getattr(row, each.name) for each in fields(row)} for row in rows]
    kept = [{name: value for name, value in row.items() if name not in MEASURED} for row in plain]
    return sha256("".join(map(digest, kept)).encode()).hexdigest()[:32]


def rows_of(table):
    values = {
        column.name: st.none() | VALUES[column.type] if column.nullable else VALUES[column.type]
        for column in columns(table)
    }
    return st.lists(st.builds(TABLES[table], **values), max_size=4)


@given(data=st.data(), table=st.sampled_from([*TABLES]))
def test_row_digest_equals_the_hash_of_the_fields_as_json(data, table):
    first, second = data.draw(rows_of(table)), data.draw(rows_of(table))
    assert RowDigest(table).update(first).update(second).hexdigest() == expected_digest([*first, *second])


@pytest.mark.parametrize("column", ["latency_s", "own_s", "completion", "prompt_tokens"])
def test_row_digest_ignores_a_column_that_measures_a_run(column):
    row = reply(completion="c", latency_s=0.1, own_s=0.1, prompt_tokens=1)
    other = replace(row, **{column: type(getattr(row, column))(7)})
    assert other != row
    hashed = [RowDigest("answer.replies").update([each]).hexdigest() for each in (row, other)]
    assert hashed[0] == hashed[1]
