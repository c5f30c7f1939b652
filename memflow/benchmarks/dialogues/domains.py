"""The domains of the benchmark, which domains.toml declares. Users declare theirs in memflow.toml."""

from memflow.benchmarks.domain_file import load_domains

DOMAINS = load_domains("memflow.benchmarks.dialogues")
