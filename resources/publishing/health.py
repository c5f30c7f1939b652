"""What qualifies scores, from the lake: the health of assistants and the calibrations of judges."""

from collections.abc import Mapping

from memflow.pipeline import CALIBRATIONS, partition_key
from memflow.records import Calibration
from memflow.resources.lake.lake import Lake
from memflow.scoring.calibrations import CALIBRATED
from memflow.scoring.health import overall_state
from memflow.scoring.published_health import AssistantHealth

HEALTH = "score.health"


def stored_health(lake: Lake, domain: str, assistant: str) -> AssistantHealth | None:
    """Return the health of an assistant in a domain; None if it was not measured.

    Raises the errors of `Lake.read`.
    """
    partition = partition_key(domain, assistant)
    if lake.facts(HEALTH, partition) is None:
        return None
    state, statement = overall_state(lake.read(HEALTH, partition))
    return AssistantHealth(state, statement.rstrip("."))


def stored_calibrations(lake: Lake, domain: str, meta: Mapping[str, str]) -> list[Calibration]:
    """Return the calibrations of a domain's judges that verdicts with the metadata `meta` stand on; otherwise none."""
    facts = lake.facts(CALIBRATIONS, domain)
    known = facts is not None and meta.get(CALIBRATED) == facts.digest
    return lake.read(CALIBRATIONS, domain) if known else []
