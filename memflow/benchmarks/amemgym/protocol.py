"""AMemGym's protocol points: protocol.yaml, and the conditions under which a point applies to a domain."""

from memflow.benchmarks.amemgym.config import AMemGymConfig, is_generated, parse_config
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

BASE_VARIABLES = 2
"""State variables of a question in the paper's setting base; the setting extra has other rounds."""


def _on_policy(domain: Domain) -> bool:
    return parse_config(domain).policy == "on"


def _on_policy_base(domain: Domain) -> bool:
    return _on_policy(domain) and parse_config(domain).variables_per_question == BASE_VARIABLES


PROTOCOL = BenchmarkProtocol(
    read_points(
        __package__,
        "protocol.yaml",
        {
            "generated": is_generated,
            "on_policy": _on_policy,
            "off_policy": lambda domain: not _on_policy(domain),
            "on_policy_base": _on_policy_base,
            "user_by_paper": lambda domain: _on_policy(domain) and parse_config(domain).user_model == "paper",
            "user_by_code": lambda domain: _on_policy(domain) and parse_config(domain).user_model != "paper",
            "simulated": lambda domain: is_generated(domain) or _on_policy(domain),
        },
    ),
    AMemGymConfig,
    "AGI-Eval-Official/amemgym at ffcd188",
)
