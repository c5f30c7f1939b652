"""LoCoMo's domains, which domains.toml declares."""

from memflow.benchmarks.domain_file import load_domains

DOMAINS = load_domains("memflow.benchmarks.locomo")
