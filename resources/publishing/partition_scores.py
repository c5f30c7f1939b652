"""The primary scores: of one partition of verdicts, and of the published leaderboard.

The scores of a partition are computed from the rows of its own assistant. They equal the leaderboard's, because the
same function computes both (memflow/scoring/leaderboard.py). Scores that need other assistants, such as an upper bound
or a normalization over assistants, have no value there.
"""

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.protocol_settings import STANDARD
from memflow.pipeline import partition_key
from memflow.records import BY_EVIDENCE, Score
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.health import stored_calibrations, stored_health
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.failure_attributions import failure_scores
from memflow.scoring.groups import Group
from memflow.scoring.leaderboard import DomainRows, own_scores
from memflow.scoring.primary import primary_scores
from memflow.scoring.published_health import with_health
from memflow.scoring.scripted import SCRIPTED_JUDGE

VERDICTS = "score.verdicts"


def partition_scores(domain: Domain, assistant: str, lake: Lake, warehouse: Warehouse) -> list[Score]:
    """Return the primary scores of one assistant in one domain, over all probes, from its stored verdicts.

    Failure rates by state probes follow, if the benchmark has state probes. Failure rates by evidence need other tables
    and are left out. Scores of a faulty assistant have no value. Raises MissingData if it has no stored verdicts.
    """
    benchmark = registry.benchmark(domain.benchmark)
    partition = partition_key(domain.name, assistant)
    groups: list[Group] = []
    if benchmark.aggregates_in_sql:
        with warehouse.session((VERDICTS,), {partition}) as session:
            found = session.query("verdict_groups", {partition}, domain=domain.name)
            groups = [Group(**row) for row in found]
    facts = lake.facts(VERDICTS, partition)
    rows = DomainRows(
        domain=domain,
        probes=[probe for probe in lake.read("question.probes", domain.name) if probe.split == "test"],
        meta={assistant: {} if facts is None else facts.meta},
        verdicts=lambda name: [] if benchmark.aggregates_in_sql else lake.read(VERDICTS, partition),
        groups={assistant: groups},
        operations={},
        checkpoints={},
        read=lambda table, name: None,
        calibrations=lambda name: stored_calibrations(lake, domain.name, {} if facts is None else facts.meta),
        scripted_judge=lambda name: facts is not None and facts.meta.get(SCRIPTED_JUDGE) == "yes",
    )
    health = stored_health(lake, domain.name, assistant)
    scores = with_health(
        own_scores(benchmark, rows, assistant, benchmark.population(())),
        {} if health is None else {assistant: health},
    )
    variants = registry.shown_variants(domain)
    primary = primary_scores(
        scores, lambda _: domain.benchmark, lambda _, metric: variants.get(metric, STANDARD)
    )
    return [*primary, *failure_scores(scores, STANDARD)]


def published_primary_scores(settings: Settings, lake: Lake) -> list[Score]:
    """Return the primary scores and failure rates of every domain of the published leaderboard, over all probes.

    Failure rates by evidence precede those by state probes.
    Raises MissingData if no leaderboard is published.
    """
    scores = lake.read("score.leaderboard", "all")
    domains = {name: settings.domain(name) for name in dict.fromkeys(score.domain for score in scores)}
    variants = {name: registry.shown_variants(domain) for name, domain in domains.items()}
    primary = primary_scores(
        scores,
        lambda name: domains[name].benchmark,
        lambda name, metric: variants[name].get(metric, STANDARD),
    )
    return [*primary, *failure_scores(scores, BY_EVIDENCE), *failure_scores(scores, STANDARD)]
