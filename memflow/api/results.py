"""`Results`: the tables of a home as data frames, with the values that the commands of the group Results print."""

import html
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import pyarrow as pa
from rich.console import RenderableType

from memflow.api.arguments import AnyMemory, AnyPath, as_list, as_path, explained_os_errors, operand_name
from memflow.errors import BadInput, MissingData, StoreFailed
from memflow.labels import score_label
from memflow.operations.front import Front
from memflow.operations.import_paths import assistant_name
from memflow.operations.stored_names import assistants_of, check_names
from memflow.records import Score
from memflow.repeats import memory_name
from memflow.resources.lake.columns import schema
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from memflow.scoring.rankings import AssistantRetrieval

Frame = TypeVar("Frame")
Other = TypeVar("Other")
Names = str | Sequence[str] | None
Assistants = AnyMemory | Sequence[AnyMemory] | None

LEADERBOARD = (
    *("domain", "assistant", "metric", "variant", "slice", "value", "low", "high", "rank_low", "rank_high"),
    *(
        "noise",
        "n",
        "n_episodes",
        "coverage",
        "health",
        "judge_calibration",
        "model",
        "embedder",
        "scripted",
        "incomplete",
        "reason",
    ),
)
REPLIES = (
    *("domain", "assistant", "probe_id", "question", "gold", "text", "parsed", "reason"),
    *("recalled", "prompt"),
)
RETRIEVAL = (
    *("domain", "assistant", "metric", "k", "slice", "value", "low", "high", "n", "episodes", "embedder"),
    *("label", "incomplete", "reason"),
)
ENTRIES = ("domain", "assistant", "episode_id", "entry_id", "kind", "text", "since", "until", "sources")


def open_home(home: AnyPath, *, settings: AnyPath | None = None) -> "Results[pd.DataFrame]":
    """Return the results of a home, which may be read-only. Nothing is computed.

    Args:
        home: The folder with the results of `memflow run` or `memflow.evaluate`.
        settings: The settings file; by default ./memflow.toml, if there is one.

    Raises:
        MissingData: If the home has no leaderboard.
        BadInput: If the settings are invalid, or another version of memflow wrote the home.

    Example:
        >>> memflow.open("results").leaderboard()
    """
    loaded = Front(as_path(settings), as_path(home)).load()
    if not any(map(Lake(loaded.lake_root).partitions, ("score.leaderboard", "score.rankings"))):
        raise MissingData(
            f"the home {loaded.home} has no leaderboard. Create it with `memflow run` or memflow.evaluate."
        )
    return results_of(loaded)


def results_of(settings: Settings, *selected: tuple[str, ...]) -> "Results[pd.DataFrame]":
    """Return the results of a home as pandas data frames: all, or those of some domains and assistants."""
    to_pandas: Callable[[pa.Table], pd.DataFrame] = pa.Table.to_pandas
    return Results(settings, to_pandas, *selected)


@dataclass(frozen=True, repr=False)
class Results(Generic[Frame]):
    """The results in a home. Its methods return tables: pandas data frames, or those of `to_polars` and `to_arrow`.

    Instead of an assistant's name, a memory may be given, if it was evaluated with one model. A list stands for several
    domains, assistants or metrics. All methods raise BadInput for an unknown name, with similar names.
    """

    settings: Settings
    convert: Callable[[pa.Table], Frame]
    domains: tuple[str, ...] | None = None
    """The domains that the tables contain; None for all."""
    assistants: tuple[str, ...] | None = None
    """The assistants that the tables contain; None for all."""

    def to_polars(self) -> "Results[pl.DataFrame]":
        """Return the same results, with tables as Polars data frames. Raises BadInput if Polars is missing."""
        try:
            import polars
        except ImportError:
            raise BadInput(
                "Polars is not installed. Install it: pip install 'memflow-bench[polars]'"
            ) from None
        to_polars: Callable[[pa.Table], pl.DataFrame] = polars.DataFrame
        return self._with(to_polars)

    def to_arrow(self) -> "Results[pa.Table]":
        """Return the same results, with tables as Arrow tables."""
        return self._with(lambda table: table)

    @property
    def database(self) -> Path:
        """The path of the DuckDB file with all tables of the home, for other programs."""
        return self.settings.warehouse_path

    @property
    def label(self) -> str | None:
        """The label of scores of the scripted chat or of the hashing embedder; None without a label."""
        return score_label(self._scores())

    def leaderboard(
        self,
        domain: Names = None,
        assistant: Assistants = None,
        metric: Names = None,
        *,
        slices: bool = False,
        variants: bool = False,
    ) -> Frame:
        """Return the scores, as `memflow show leaderboard` does: one row per domain, assistant and metric.

        The 95 % interval of `value` is from `low` to `high`. A value is null where a score may not be shown, such as
        that of a faulty memory: `health` or `reason` states why.

        Args:
            domain: Only these domains.
            assistant: Only these assistants.
            metric: Only these metrics; docs/metrics.md describes them.
            slices: Whether all slices have rows: periods, categories, data sets.
            variants: Whether named deviations from the paper's metric have rows.
        """
        memories: list[AnyMemory] = [] if assistant is None else as_list(assistant)
        names = [self._assistant(memory) for memory in memories]
        scores = self._scores(_listed(domain), names, _listed(metric), slices=slices, variants=variants)
        return self._frame("score.leaderboard", map(asdict, scores), LEADERBOARD)

    def verdicts(
        self,
        domain: str | None = None,
        assistant: AnyMemory | None = None,
        metric: str | None = None,
        *,
        lost: bool = False,
    ) -> Frame:
        """Return one row per reply, metric and variant, with gold and parsed answer. `lost`: those without a value."""
        from memflow.resources.publishing.warehouse import Warehouse

        name = self._stored_names("score.verdicts", domain, assistant)
        rows = Warehouse(self._lake, self.database).query(
            "verdicts", domain=domain, assistant=name, metric=metric, quarantined=True if lost else None
        )
        return self._frame("score.verdicts", filter(self._is_selected, rows), rows.columns)

    def compare(
        self,
        a: AnyMemory,
        b: AnyMemory,
        *others: AnyMemory,
        domain: Names = None,
        metric: Names = None,
        slices: bool = False,
        checkpoint: int | None = None,
    ) -> Frame:
        """Return the paired differences of `a` minus each of the others, as `memflow compare` does.

        There is one row per domain, metric and pair, with a 95 % interval over episodes and an adjusted p value. An
        operand is a memory, or text in the form [DOMAIN/]ASSISTANT[:VARIANT][=TIME]. With `checkpoint`, its questions
        alone are compared.
        """
        from memflow.operations.comparison import compare_domain
        from memflow.operations.operands import parse_operand, read_operands

        texts = [self._assistant(memory, is_operand=True) for memory in (a, b, *others)]
        if len(set(texts)) < len(texts):
            raise BadInput(
                f"compare needs different assistants, but they are {', '.join(texts)}. Pass two different assistants."
            )
        domains, metrics = _listed(domain) or self.domains, _listed(metric)
        by_domain = read_operands(self._lake, [parse_operand(text) for text in texts], domains)
        place = (self.settings, self._lake)
        rows = [row for stored in by_domain for row in compare_domain(*place, stored, checkpoint).rows]
        check_names("", "compared metric", metrics, {row.metric for row in rows})
        chosen = [
            asdict(row)
            for row in rows
            if (slices or row.slice == "all") and row.metric in (metrics or [row.metric])
        ]
        return self._frame("score.comparisons", chosen)

    def probe(self, probe_id: str, assistant: AnyMemory | None = None, *, domain: str | None = None) -> Frame:
        """Return one row per assistant for a probe: question, gold, reply, prompt as sent, and a column per metric.

        `recalled` is the number of recalled entries, which `recall` returns. `prompt` is empty if the home is
        read-only, so that its ledger cannot be opened.
        """
        rows, metrics = [], dict[str, None]()
        for probe, answer in self._answers(probe_id, assistant, domain):
            values = {
                row["metric"]: row["value"] for row in answer["verdicts"] if row["variant"] == "standard"
            }
            messages = [f"[{message['role']}]\n{message['content']}" for message in answer["messages"]]
            known = {"assistant": answer["assistant"], "recalled": len(answer["recalled"])}
            rows.append(
                {**probe, **(answer["reply"] or {}), **values, **known, "prompt": "\n\n".join(messages)}
            )
            metrics |= dict.fromkeys(values)
        return self._frame("question.probes", rows, (*REPLIES, *metrics))

    def recall(
        self, probe_id: str, assistant: AnyMemory | None = None, *, domain: str | None = None
    ) -> Frame:
        """Return the entries that memories recalled for a probe: one row per assistant and entry, best first.

        `sources` are the ids of the messages behind an entry, and `rank` is its place.
        """
        rows = [
            {**entry, "domain": probe["domain"], "assistant": answer["assistant"], "rank": rank}
            for probe, answer in self._answers(probe_id, assistant, domain)
            for rank, entry in enumerate(answer["recalled"], 1)
        ]
        return self._frame("memory.indexes", rows, (*ENTRIES, "rank"))

    def search(
        self,
        domain: str,
        assistant: AnyMemory,
        query: str,
        *,
        episode: str | None = None,
        checkpoint: int | None = None,
        mode: Literal["vector", "text", "hybrid"] | None = None,
        k: int = 5,
    ) -> Frame:
        """Return the `k` best stored entries of a memory for a query, as `memflow search` does, without a chat model.

        By default all episodes are searched at their end, and by vectors and words where the entries have vectors.
        """
        from memflow.resources.indexes.search import search_entries

        name = self._assistant(assistant)
        place = (self.settings, self._lake, domain, name, query)
        with explained_os_errors(self.settings.home):  # the index is built at the first search
            result = search_entries(*place, checkpoint=checkpoint, episode=episode, mode=mode, k=k)
        rows = [
            {**row, "domain": domain, "assistant": name, "rank": at} for at, row in enumerate(result.rows, 1)
        ]
        return self._frame("memory.indexes", rows, (*ENTRIES, "rank", "score"))

    def health(self, domain: str | None = None, assistant: AnyMemory | None = None) -> Frame:
        """Return one row per domain, assistant and health measure (such as failed writes), as `memflow show health`."""
        name = self._stored_names("score.health", domain, assistant)
        partitions = [part.partition("/") for part in self._lake.partitions("score.health")]
        rows = [
            asdict(row)
            for domain_name, _, assistant_name in partitions
            if domain in (None, domain_name) and name in (None, assistant_name)
            for row in self._lake.read("score.health", f"{domain_name}/{assistant_name}")
        ]
        return self._frame("score.health", filter(self._is_selected, rows))

    def retrieval(self, domain: str | None = None, assistant: AnyMemory | None = None) -> Frame:
        """Return the retrieval scores by assistant and slice, as `memflow show retrieval` does.

        `memflow.evaluate(..., retrieval_only=True)` measures them. `label` names a hashed embedder or scripted users.
        """
        name = self._stored_names("score.rankings", domain, assistant)
        rows = [
            {**asdict(row), **asdict(score)}
            for row in self._retrieval()
            if domain in (None, row.domain) and name in (None, row.assistant)
            for score in row.scores
        ]
        return self._frame("", rows, RETRIEVAL)

    def paper(self, table: str, *, model: str | None = None, limit: int = 0) -> Frame:
        """Return the cells of a paper's table, by its id in `memflow papers`, as `memflow show paper` prints them.

        `published` is the text of the paper; `verdict` states whether `difference` is `within` or `beyond` the interval
        or noise of `value`, and `marks` what else differs.
        """
        from memflow.operations.papers import stored_table
        from memflow.resources.lake_reader import LakeReader

        reader = LakeReader(self.settings, self._lake)
        rows = [cell.plain() for cell in stored_table(reader, table, model=model or "", limit=limit).cells]
        return self._frame("", rows, rows[0] if rows else ())

    def export(
        self,
        form: Literal["eee", "inspect"],
        folder: AnyPath,
        domain: Names = None,
        assistant: Names = None,
        *,
        model_id: str | None = None,
        organization: str = "unknown",
    ) -> list[Path]:
        """Write results as `memflow export` does, and return the paths of the files.

        Args:
            form: `eee` for records of Every Eval Ever, `inspect` for logs of Inspect.
            folder: The folder to write into.
            domain: Only these domains.
            assistant: Only these assistants, by their names.
            model_id: The chat model's public name, DEVELOPER/MODEL, if its settings lack it.
            organization: Who evaluated, for Every Eval Ever.

        Raises:
            BadInput: If the package of the format is missing, or nothing is selected.
        """
        from memflow.operations.every_eval_ever import write_records
        from memflow.operations.exported_results import exported_results
        from memflow.operations.inspect_logs import write_inspect_log

        if form not in ("eee", "inspect"):
            raise BadInput(f"unknown format {form!r}. Use eee or inspect.")
        chosen = (_listed(domain) or self.domains, _listed(assistant) or self.assistants)
        results = exported_results(self.settings, self._lake, *chosen, model_id)
        if form == "inspect":
            return [write_inspect_log(row, Path(folder)) for row in results]
        return [path for row in results for path in write_records(row, Path(folder), organization)]

    def sql(self, statement: str) -> Frame:
        """Return the rows of a SELECT over the tables of the home, which are named stage.name (`memflow sql`)."""
        from memflow.resources.publishing.warehouse import Warehouse

        rows = Warehouse(self._lake, self.database).sql(statement)
        return self._frame("", rows, rows.columns)

    def __repr__(self) -> str:
        from memflow.operations.messages import TerminalConsole

        text = io.StringIO()
        console = TerminalConsole(
            file=text, width=110, no_color=True, force_terminal=False, force_jupyter=False
        )
        for part in self._parts():
            console.print(part)
        return text.getvalue().strip()

    def _repr_html_(self) -> str:
        from memflow.rendering.tables import FittedTable

        def row(tag: str, cells: Iterable[str]) -> str:
            return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

        parts = []
        for part in self._parts():
            if isinstance(part, FittedTable):
                rows = [row("th", part.titles), *(row("td", cells) for cells in part.cells())]
                parts.append(f"<table style='white-space: nowrap'>{''.join(rows)}</table>")
            else:
                parts.append(f"<p>{html.escape(str(part).strip())}</p>")
        return "".join(parts)

    def _parts(self) -> list[RenderableType]:
        """Return what `memflow run` prints of scores: a table per domain, what is incomplete, and the label."""
        from memflow.rendering.retrieval import retrieval_tables
        from memflow.rendering.scores import leaderboard_parts

        scores = self._scores() if self._lake.partitions("score.leaderboard") else []
        retrieval = [] if scores else self._retrieval()
        return [*(retrieval_tables(retrieval) if retrieval else leaderboard_parts(self.settings, scores))]

    def _retrieval(self) -> "list[AssistantRetrieval]":
        from memflow.resources.publishing.rankings import stored_retrieval

        rows = stored_retrieval(self.settings, self._lake)
        return [row for row in rows if self._is_selected({"domain": row.domain, "assistant": row.assistant})]

    @property
    def _lake(self) -> Lake:
        return Lake(self.settings.lake_root)

    def _with(self, convert: Callable[[pa.Table], Other]) -> "Results[Other]":
        return Results(self.settings, convert, self.domains, self.assistants)

    def _frame(self, table: str, rows: Iterable[Mapping[str, Any]], columns: Iterable[str] = ()) -> Frame:
        """Return rows as a data frame. Columns have the types of `table`; other columns, those of their values."""
        listed = [*rows]
        known = {field.name: field.type for field in (schema(table) if table else ())}
        arrays = {
            name: pa.array([row.get(name) for row in listed], known.get(name))
            for name in (*columns,) or known
        }
        return self.convert(pa.table(arrays))

    def _is_selected(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row is of the domains and assistants of these results."""
        selected = (("domain", self.domains), ("assistant", self.assistants))
        return all(names is None or row[column] in names for column, names in selected)

    def _scores(
        self, *names: Sequence[str] | None, slices: bool = False, variants: bool = False
    ) -> list[Score]:
        """Return the published scores: of all or some domains, assistants and metrics."""
        from memflow.operations.stored_names import stored_scores

        scores = stored_scores(self.settings, self._lake, *names, slices=slices, variants=variants)
        return [
            row for row in scores if self._is_selected({"domain": row.domain, "assistant": row.assistant})
        ]

    def _assistant(self, memory: AnyMemory, *, is_operand: bool = False) -> str:
        """Return the assistant that a name or memory stands for: the only one with the memory, if it names no model.

        Text that stands for none may be an operand of a comparison: with a domain, variant or moment.
        """
        name = assistant_name(operand_name(memory))
        stored = {part.partition("/")[2] for part in self._lake.partitions("score.verdicts")}
        known = stored.intersection(self.assistants or stored)
        same = [assistant for assistant in known if memory_name(assistant) == name]
        if name not in known and len(same) == 1:
            return same[0]
        return memory if is_operand and isinstance(memory, str) and name not in stored else name

    def _stored_names(self, table: str, domain: str | None, assistant: AnyMemory | None) -> str | None:
        """Return the name of an assistant. Raises BadInput if a table has no such domain or assistant."""
        name = None if assistant is None else self._assistant(assistant)
        parts = [part.partition("/") for part in self._lake.partitions(table)]
        check_names("the home", "domain", domain and [domain], {part[0] for part in parts})
        check_names("the home", "assistant", name and [name], {part[2] for part in parts})
        return name

    def _answers(
        self, probe_id: str, assistant: AnyMemory | None, domain: str | None
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return a probe with the answer of each assistant, as `memflow show probe` has them."""
        from memflow.operations.probes import answer_of, find_probe
        from memflow.resources.ledger.sql_ledger import SqlLedger

        only = self.domains[0] if self.domains is not None and len(self.domains) == 1 else None
        probe = find_probe(self._lake, probe_id, domain or only)
        known = assistants_of(self._lake, "answer.replies", probe.domain)
        names = [name for name in known if name in (self.assistants or known)]
        if assistant is not None:
            names = [self._assistant(assistant)]
            check_names(probe.domain, "assistant with answers", names, known)
        try:
            opened: AbstractContextManager[SqlLedger | None] = SqlLedger(self.settings.ledger_url)
        except StoreFailed:  # a home that is read-only
            opened = nullcontext()
        with opened as ledger:
            return [(asdict(probe), answer_of(self._lake, ledger, probe, name)) for name in names]


def _listed(names: Names) -> list[str] | None:
    return [names] if isinstance(names, str) else None if names is None else [*names]
