"""AMemGym's domains, which domains.toml declares."""

from dataclasses import replace

from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.domains import RoleDecoding

_DECODING = {"assistant": RoleDecoding(output=8192)}
"""The paper's bound on all answers (section 4.1), choices included. Under profile `memflow` a choice has its own."""
DOMAINS = tuple(replace(domain, decoding=_DECODING) for domain in load_domains("memflow.benchmarks.amemgym"))
