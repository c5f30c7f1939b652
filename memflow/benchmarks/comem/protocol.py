"""CoMem's protocol points: protocol.yaml, and the conditions under which a point applies to a domain."""

from memflow.benchmarks.comem.config import CoMemConfig, parse_config
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points


def _of_source(domain: Domain, prefix: str) -> bool:
    return any(name.startswith(prefix) for name in domain.datasets)


def _personamem(domain: Domain) -> bool:
    return _of_source(domain, "personamem")


def _dialsim(domain: Domain) -> bool:
    return any(
        _of_source(domain, f"comem_{show}") for show in ("friends", "bigbang", "theoffice")
    ) and not _of_source(domain, "friendsqa")


PROTOCOL = BenchmarkProtocol(
    read_points(
        __package__,
        "protocol.yaml",
        {
            "annotated": lambda domain: parse_config(domain).keys == "annotated",
            "personamem": _personamem,
            "dialsim": _dialsim,
            "other_sources": lambda domain: not (_personamem(domain) or _dialsim(domain)),
        },
    ),
    CoMemConfig,
)
