"""The query `verdict_groups` gives the same groups as Python."""

from dataclasses import asdict

import pytest
from factories import verdict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from profiles import examples

from bench.verdict_groups import groups_of
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse
from memflow.scoring.groups import Group

VALUES = st.none() | st.floats(0, 10).map(lambda value: round(value, 12))


@settings(examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from([None, "1"]), VALUES), min_size=1, max_size=60
    )
)
def test_verdict_groups_from_sql_equal_groups_computed_in_python(
    values: list[tuple[str, str | None, float | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lake")
    lake = Lake(folder / "lake")
    rows = []
    for at, (dataset, category, value) in enumerate(values):
        where = {"assistant": f"m{at % 2}", "episode_id": f"e{at % 3}", "checkpoint": at % 2}
        of = {"dataset": dataset, "category": category, "reason": "none" if value is None else None}
        rows.append(verdict(probe_id=str(at), metric="f1", value=value, **where, **of))
    for name in ("m0", "m1"):
        lake.write(
            "score.verdicts", f"d/{name}", [row for row in rows if row.assistant == name], fingerprint=""
        )
    lake.write("score.verdicts", "other/m0", [], fingerprint="")
    found = [
        Group(**row) for row in Warehouse(lake, folder / "memflow.duckdb").query("verdict_groups", domain="d")
    ]
    wanted = groups_of(rows)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        for name, value in asdict(one).items():
            if name in ("total", "squares"):
                assert value == pytest.approx(getattr(other, name), abs=1e-9)
            else:
                assert value == getattr(other, name), name
