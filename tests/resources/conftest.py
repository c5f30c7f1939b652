"""Fixtures for ledgers, and a PostgreSQL server if its programs are installed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bench.measure import postgres_server
from memflow.resources.ledger.tables import tables


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Return the SQLAlchemy URL of an empty database."""
    with postgres_server() as port:
        if port is None:
            message = "PostgreSQL is missing: neither initdb on the path nor /usr/lib/postgresql"
            if os.environ.get("CI") == "true":
                pytest.fail(message)
            pytest.skip(message)
        yield f"postgresql+psycopg2://memflow@127.0.0.1:{port}/postgres"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a SQLite ledger that does not exist yet."""
    return tmp_path / "deep" / "ledger.sqlite"


@pytest.fixture
def url(path: Path) -> str:
    """Return the URL of a new SQLite ledger."""
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_ledger_url(postgres_url: str) -> str:
    """Return the URL of an empty PostgreSQL ledger."""
    engine = sa.create_engine(postgres_url)
    tables.drop_all(engine)
    engine.dispose()
    return postgres_url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def either_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty ledger, once per database."""
    name = "url" if request.param == "sqlite" else "postgres_ledger_url"
    url: str = request.getfixturevalue(name)
    return url
