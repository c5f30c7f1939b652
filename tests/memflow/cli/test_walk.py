"""The walk: how a run that a check stopped is told."""

import dagster as dg
import pytest

from memflow.cli.walk import _broken


def evaluation(rows: int, unexpected: int, offending: list[str]) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(["question", "probes"]),
        check_name="there_are_probes",
        passed=False,
        metadata={
            "rows": dg.MetadataValue.int(rows),
            "unexpected": dg.MetadataValue.int(unexpected),
            "offending": dg.MetadataValue.json(offending),
        },
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((0, 1, []), "the table is empty"),
        ((4, 1, ["nora/p0"]), "not so of 1 of 4 rows, such as nora/p0"),
        ((4, 2, []), "not so of 2 of 4 rows"),
    ],
)
def test_a_check_that_stopped_a_run_says_of_how_many_rows(given, told) -> None:
    assert _broken(evaluation(*given)) == f"question/probes: there are probes: {told}"
