"""A run with all stores in PostgreSQL, which restarts fast and as after a crash: its rerun asks nothing twice."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.measure import restartable_postgres
from bench.postgres_restarts import drill

RESTARTS = 2


@pytest.mark.kill
@pytest.mark.postgres
def test_run_repeats_no_request_after_restarts_of_postgresql(
    tmp_path: Path, published_users: Callable[..., Path]
) -> None:
    data = published_users(tmp_path / "data", users=1, periods=4, questions=2)
    with restartable_postgres() as server:
        if server is None:
            pytest.skip("PostgreSQL is missing: neither initdb on the path nor /usr/lib/postgresql")
        result = drill(RESTARTS, tmp_path, data, server)
    assert result.restarts == RESTARTS
    assert result.repeated == 0 and result.answered > 10
    assert result.different == []
    assert len(result.outputs) <= RESTARTS, result.outputs
