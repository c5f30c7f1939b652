"""The parameters of a domain of own dialogues."""

from typing import Literal

from memflow.benchmarks.dialogues.schema import OpenMetric
from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.models import StrictModel


class DialoguesConfig(StrictModel):
    """The parameters of a domain.

    `open_metric` scores open questions that name no metric of their own. `arrivals` states which messages are written
    to a memory together: single messages, pairs of user and assistant, or sessions. A question between two messages of
    such a group divides the group. Without `judged`, no judge is calibrated or asked, and a question that needs one has
    no value.
    """

    open_metric: OpenMetric = "f1"
    arrivals: Literal["message", "pair", "session"] = "message"
    judged: bool = True


def parse_config(domain: Domain) -> DialoguesConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(DialoguesConfig, domain)
