"""The export of a report: writes the data files that changed, partition by partition, and the page.

Only one partition's rows, and one domain's verdicts as Parquet, are in memory at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

from memflow.fingerprint import digest
from memflow.records import Probe
from memflow.resources.report import (
    costs,
    domain,
    episodes,
    page,
    papers,
    results,
    runs,
    scores,
    site,
    verdicts,
)
from memflow.resources.report.folder import SITE, ReportFolder
from memflow.resources.report.names import data_name
from memflow.resources.report.payload import binary_script, gzip_script, json_script
from memflow.resources.report.source import ASSISTANT_TABLES, DOMAIN_TABLES, ReportSource

CREATED = "created"
"""The key of the site's time of creation, which is no part of its version."""


class EpisodeFiles(Protocol):
    """Rows of a partition that are divided into data files by episode."""

    def file(self, episodes: Sequence[str]) -> dict[str, Any]:
        """Return the content of the data file of some episodes."""
        ...


@dataclass(frozen=True)
class Report:
    """A written report: its folder, the names of its data files, those written and removed now, and its bytes."""

    folder: Path
    files: list[str]
    written: list[str]
    removed: list[str]
    bytes: int
    domains: list[str]
    assistants: list[str]
    version: str
    """The content hash of all data files."""
    warnings: list[str] = field(default_factory=list)

    @property
    def page(self) -> Path:
        """The page to open in a browser."""
        return self.folder / "index.html"


def export_report(source: ReportSource, folder: Path) -> Report:
    """Write the report of a source into a folder; files whose inputs did not change remain.

    Raises BadInput for a folder that contains something else.
    """
    target = ReportFolder(folder)
    slices = {name: domain.domain_slices(source, name) for name in source.assistants}
    for name in source.assistants:
        _put_domain(source, target, name, slices[name])
        for assistant in source.assistants[name]:
            _put_results(source, target, name, assistant)
    board = scores.score_file(source, "scores")
    tables: dict[str, Any] = {
        "papers": papers.papers_file(source),
        "scores": board,
        **{name: scores.score_file(source, name) for name in scores.FILES if name != "scores"},
    }
    tables["costs"] = costs.costs_file(source)
    tables["headroom"] = scores.headroom_file(source)
    tables["retrieval"] = scores.retrieval_file(source)
    for name, table in source.named(tables).items():
        target.put(name, digest(table), partial(gzip_script, name, table))
    rows = source.named(runs.runs_file(source, _differing(board)))
    target.put("runs", digest(rows), lambda: gzip_script("runs", rows))
    put_pages(target)
    listed = {name: [*each] for name, each in slices.items()}
    content = source.named(site.site_file(source, board, listed, target.names))
    content["models"] = dict(source.model_names)  # for links with the names of the settings
    version = digest(content, target.versions)
    target.put(SITE, version, lambda: json_script(SITE, {**content, CREATED: _now()}))
    removed = target.finish()
    return Report(
        folder,
        target.names,
        target.written,
        removed,
        target.size(),
        [*source.assistants],
        [each["name"] for each in content["assistants"]],
        version,
        content["warnings"],
    )


def _put_domain(
    source: ReportSource, target: ReportFolder, name: str, slices: Mapping[str, frozenset[str]]
) -> None:
    """Write the data files of a domain that all assistants share, and its verdicts."""
    version = source.version(DOMAIN_TABLES, name, "", _code())

    def put(kind: str, content: Callable[[], Any], version: str = version) -> None:
        file = data_name(kind, name)
        target.put(file, version, lambda: gzip_script(file, source.named(content())))

    put("probes", lambda: domain.probes_file(source, name, slices))
    summaries = episodes.episode_summaries(source.lake, name)
    put(
        "domains",
        lambda: domain.domain_file(source, name, summaries),
        digest(version, _datasets(source, name)),
    )
    stored = cache(lambda: domain.DomainEpisodes(source, name))
    for shard, members in episodes.shards_of(summaries).items():
        file = data_name("episodes", name, str(shard))
        target.put(file, version, partial(_shard_script, file, stored, members))
    assistants = source.assistants[name]
    file = data_name("verdicts", name)
    versions = [source.version(verdicts.TABLES, name, each) for each in assistants]
    target.put(
        file,
        digest(versions, assistants, _code()),
        lambda: binary_script(file, verdicts.verdicts_parquet(source, name, assistants)),
    )


def _put_results(source: ReportSource, target: ReportFolder, name: str, assistant: str) -> None:
    """Write the data files of an assistant's results in a domain."""
    version = source.version(
        ASSISTANT_TABLES, name, assistant, source.version(("question.probes",), name), _code()
    )
    stored = cache(lambda: results.AssistantResults(source, name, assistant, _probes(source, name)))
    for shard, members in episodes.shards_of(episodes.episode_summaries(source.lake, name)).items():
        file = data_name("results", name, source.named(assistant), str(shard))
        target.put(file, version, partial(_shard_script, file, stored, members))


def _shard_script(file: str, stored: Callable[[], EpisodeFiles], members: Sequence[str]) -> bytes:
    """Return the data file of some episodes; `stored` reads the partition on its first call."""
    return gzip_script(file, stored().file(members))


def put_pages(target: ReportFolder) -> None:
    """Write the page, its front end, the licences of its packages and robots.txt."""
    target.put_page("app.js", page.bundle("app.js"))
    target.put_page("app.css", page.bundle("app.css"))
    target.put_page(page.LICENSES, page.bundle(page.LICENSES))
    target.put_page("robots.txt", page.ROBOTS)
    target.put_page("index.html", page.index_page(site.TITLE))


def _probes(source: ReportSource, name: str) -> dict[str, list[Probe]]:
    """Return the test probes of a domain by episode."""
    found: dict[str, list[Probe]] = {}
    for probe in source.lake.stream("question.probes", name):
        if probe.split == "test":
            found.setdefault(probe.episode_id, []).append(probe)
    return found


def _differing(board: Mapping[str, Any]) -> dict[tuple[str, str], str | None]:
    """Return the settings that differ from other assistants, by domain and assistant."""
    places = [board["columns"].index(name) for name in ("domain", "assistant", "differing_settings")]
    found: dict[tuple[str, str], str | None] = {}
    for row in board["rows"]:
        name, assistant, differing = (row[place] for place in places)
        found[name, assistant] = found.get((name, assistant)) or differing
    return found


def _datasets(source: ReportSource, name: str) -> list[list[str]]:
    sets = map(source.library.dataset, source.domain(name).datasets)
    return [[each.name, each.title, each.licence, each.origin] for each in sets]


@cache
def _code() -> str:
    """Return a version of the exporter's code, so that a newer memflow writes the files again."""
    return digest([path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
