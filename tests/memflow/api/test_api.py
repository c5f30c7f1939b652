"""The Python API: the values of the commands on the same input, as data frames, and errors with their sentences."""

import asyncio
import errno
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest
from echo_servers import http_echo
from stub import stub_process
from typer.testing import CliRunner

import memflow
from memflow.api.arguments import named_domains, operand_name, own_tables
from memflow.cli import app
from memflow.errors import BadInput, BadSettings, EvaluationFailed, MemflowError, StoreFailed
from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.settings.settings import load
from memflow.scoring.catalog import EFFICIENCY_NAMES

DOMAIN = "locomo_demo"
MEMORIES = ["bm25_message", "full"]


@dataclass
class Newest(Memory):
    """The newest messages."""

    k: int = parameter(2, "How many.", low=1)
    of: str = parameter("both", "Whose.", choices=("user", "both"))

    async def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.store.add("said", message.line(), sources=[message.message_id])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        newest = list(self.store.live())[-self.k :]
        return Recall(notes="\n".join(entry.text for entry in newest), entries=(*newest,))


@dataclass
class Plain(Newest):
    """The newest messages, with a field that is no parameter."""

    size: int = 20


class Broken(Newest):
    """A memory that cannot be written."""

    async def write(self, messages: Sequence[Message]) -> None:
        raise ZeroDivisionError("no ink")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the machine's settings, and make this module importable under its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__, _module()))


def _module() -> Any:
    module = type(sys)(__name__)
    vars(module).update(Newest=Newest, Plain=Plain, Broken=Broken)
    return module


def command(home: Path, *words: str) -> Any:
    """Return the output of a command as data, or the sentence of its error."""
    result = CliRunner().invoke(app, ["--home", str(home), *words, "--format", "json"])
    return json.loads(result.stdout) if result.exit_code == 0 else result.stderr.strip()


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "memflow.Results[Any]"]:
    """Return a home that the command wrote, and the results of the same evaluation by the API in another home."""
    folder = tmp_path_factory.mktemp("homes")
    memories = [word for name in MEMORIES for word in ("--memory", name)]
    words = ["--home", str(folder / "command"), "run", "--domain", DOMAIN, "--no-baselines", *memories]
    assert CliRunner().invoke(app, words).exit_code == 0
    results = memflow.evaluate(MEMORIES, DOMAIN, baselines=False, home=folder / "api", progress=False)
    return folder / "command", results


def test_evaluation_has_the_scores_and_differences_of_the_command(homes: Any) -> None:
    home, results = homes
    of_command = memflow.open(home)
    timed = ", ".join(f"'{name}'" for name in EFFICIENCY_NAMES)
    for table in (
        f"score.leaderboard WHERE metric NOT IN ({timed})",
        *("score.verdicts", "score.comparisons", "memory.indexes"),
    ):
        rows = [each.to_arrow().sql(f"SELECT * FROM {table} ORDER BY ALL") for each in (results, of_command)]
        assert rows[0].num_rows > 0
        assert rows[0].equals(rows[1]), table
    shown = command(home, "show", "leaderboard")["scores"]
    board = of_command.to_arrow().leaderboard()
    assert board.to_pylist() == [{name: row[name] for name in board.column_names} for row in shown]
    compared = results.to_arrow().compare(*MEMORIES, slices=True).to_pylist()
    assert compared == command(home, "compare", *MEMORIES)["domains"][0]["comparisons"]
    assert results.compare(*MEMORIES, metric="locomo_f1")["slice"].unique().tolist() == ["all"]


def test_second_evaluation_is_up_to_date_and_leaves_the_files_as_they_are(homes: Any) -> None:
    _, results = homes
    files = {path: path.stat().st_mtime_ns for path in Path(results.settings.lake_root).rglob("*.parquet")}
    memflow.evaluate(MEMORIES, DOMAIN, baselines=False, home=results.settings.home, progress=False)
    assert {
        path: path.stat().st_mtime_ns for path in Path(results.settings.lake_root).rglob("*.parquet")
    } == files


def test_probe_has_a_column_per_metric_and_recall_the_entries_in_order(homes: Any) -> None:
    home, results = homes
    probe_id = results.verdicts(metric="locomo_f1").probe_id[0]
    shown = command(home, "show", "probe", probe_id)["answered"]
    rows = results.to_arrow().probe(probe_id).to_pylist()
    assert [row["assistant"] for row in rows] == MEMORIES
    for row, answer in zip(rows, shown, strict=True):
        assert row["text"] == answer["reply"]["text"]
        assert row["recalled"] == len(answer["recalled"])
        assert row["prompt"].endswith(answer["messages"][-1]["content"])
        for verdict in answer["verdicts"]:
            assert row[verdict["metric"]] == verdict["value"]
    recalled = results.to_arrow().recall(probe_id, "bm25_message").to_pylist()
    assert [row["text"] for row in recalled] == [entry["text"] for entry in shown[0]["recalled"]]
    assert [row["rank"] for row in recalled] == [*range(1, len(recalled) + 1)]


def test_search_and_health_are_those_of_the_commands(homes: Any) -> None:
    home, results = homes
    found = results.to_arrow().search(DOMAIN, "bm25_message", "work", k=3).to_pylist()
    shown = command(home, "search", DOMAIN, "bm25_message", "work", "--k", "3")["rows"]
    assert [(row["entry_id"], row["score"]) for row in found] == [
        (row["entry_id"], row["score"]) for row in shown
    ]
    measures = results.to_arrow().health(DOMAIN, "bm25_message").select(["measure", "state"]).to_pylist()
    health = command(home, "show", "health", DOMAIN, "bm25_message")
    assert measures == [{name: row[name] for name in ("measure", "state")} for row in health]


def test_paper_has_the_cells_of_the_command(homes: Any) -> None:
    home, results = homes
    cells = command(home, "show", "paper", "amemgym:figure7a")["cells"]
    table = results.paper("amemgym:figure7a")
    assert list(table["published"]) == [cell["published"] for cell in cells]
    assert list(table.columns) == list(cells[0])
    assert set(table["value"].isna()) == {True}


def test_export_writes_the_files_of_the_command(homes: Any, tmp_path: Path) -> None:
    home, _ = homes
    results = memflow.open(home)
    files = results.export("eee", tmp_path / "api")
    assert len(files) == 2 * len(MEMORIES)
    command(home, "export", "eee", str(tmp_path / "cli"))
    assert {path.relative_to(tmp_path / "api") for path in files} == {
        path.relative_to(tmp_path / "cli") for path in (tmp_path / "cli").rglob("*.json*")
    }
    assert len(results.export("inspect", tmp_path / "logs", assistant=MEMORIES[0])) == 1
    with pytest.raises(BadInput, match="unknown format 'xls'"):
        results.export("xls", tmp_path)


def test_home_that_is_read_only_has_no_prompts_and_a_sentence_for_search(
    homes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = memflow.open(homes[0])

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    def fail(*_: Any) -> None:
        raise StoreFailed("read-only")

    monkeypatch.setattr(SqlLedger, "_open", fail)
    monkeypatch.setattr("memflow.resources.indexes.search.search_entries", refuse)
    assert results.probe(results.verdicts().probe_id[0]).prompt.tolist() == ["", ""]
    with pytest.raises(StoreFailed, match=r"is read-only \(Read-only file system\). Make it writable"):
        results.search(DOMAIN, "full", "work")


def test_results_are_limited_to_the_evaluation(homes: Any) -> None:
    _, results = homes
    one = memflow.evaluate("full", DOMAIN, baselines=False, home=results.settings.home, progress=False)
    assert one.leaderboard().assistant.unique().tolist() == ["full"]
    assert one.verdicts().assistant.unique().tolist() == one.health().assistant.unique().tolist() == ["full"]
    assert set(memflow.open(results.settings.home).leaderboard().assistant) == {*MEMORIES}


def test_tables_are_pandas_polars_or_arrow_with_typed_columns(
    homes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, results = homes
    board = results.leaderboard(metric="locomo_f1")
    assert str(board.low.dtype) == "float64" and board.low.isna().all()  # two episodes have no interval
    assert isinstance(results.to_polars().leaderboard(), polars.DataFrame)
    assert isinstance(results.to_arrow().verdicts(), pa.Table)
    assert (
        results.to_arrow().recall(results.verdicts().probe_id[0], "full").schema.field("since").type
        == pa.int64()
    )
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        BadInput, match=r"Polars is not installed. Install it: pip install 'memflow-bench\[polars\]'"
    ):
        results.to_polars()


def test_results_show_tables_and_the_label_of_the_scripted_chat(homes: Any) -> None:
    _, results = homes
    assert results.label == "scripted, not a language model"
    text, page = repr(results), results._repr_html_()
    for part in (DOMAIN, *MEMORIES, "0.224", "scripted, not a language model: these scores"):
        assert part in text and part in page
    assert page.count("<table") == 1 and "\x1b" not in text


def test_errors_are_the_sentences_of_the_command(homes: Any, tmp_path: Path) -> None:
    home, results = homes
    for call, words in (
        (lambda: results.compare("bm25_mesage", "full"), ("compare", "bm25_mesage", "full")),
        (lambda: results.probe("q7"), ("show", "probe", "q7")),
        (lambda: results.leaderboard(metric="f0"), ("show", "leaderboard", "--metric", "f0")),
        (lambda: memflow.evaluate("ful", DOMAIN, home=home), ("run", "--domain", DOMAIN, "--memory", "ful")),
        (
            lambda: memflow.evaluate("rag", DOMAIN, home=home, model="m", url="http://127.0.0.1:1/v1"),
            ("run", "--domain", DOMAIN, "--memory", "rag", "--model", "m", "--url", "http://127.0.0.1:1/v1"),
        ),
    ):
        with pytest.raises(MemflowError) as error:
            call()
        assert f"memflow: {error.value}" == command(home, *words)
    with pytest.raises(
        BadInput, match=r"has no leaderboard. Create it with `memflow run` or memflow.evaluate."
    ):
        memflow.open(tmp_path / "nothing")
    with pytest.raises(BadInput, match=r"'' is no folder"):
        memflow.open("")
    with pytest.raises(BadSettings, match=r"limit is from 0 to"):
        memflow.evaluate("full", DOMAIN, limit=-1)


def test_memory_is_a_class_or_an_instance_with_parameters(homes: Any) -> None:
    assert operand_name(Newest) == operand_name(Newest()) == f"{__name__}:Newest"
    assert operand_name(Newest(k=5, of="user")) == "newest_k_5_of_user"
    table = {"path": f"{__name__}:Newest", "parameters": {"k": 5}}
    assert own_tables(["full", Newest, Newest(k=5)]) == {"newest_k_5": table}
    _, results = homes
    memories = [Newest, Newest(k=5)]
    own = memflow.evaluate(memories, DOMAIN, baselines=False, home=results.settings.home, progress=False)
    assert own.leaderboard(assistant=memories).assistant.unique().tolist() == ["newest", "newest_k_5"]
    assert own.compare(*memories, metric="locomo_f1").b.tolist() == ["newest_k_5"]
    with pytest.raises(BadInput, match=r"3 is no memory"):
        operand_name(3)
    assert operand_name(Plain()) == f"{__name__}:Plain"
    with pytest.raises(
        BadInput, match=r"the field size of Plain is not declared .*Declare it: size: int = parameter"
    ):
        operand_name(Plain(size=3))

    class Local(Newest):
        pass

    with pytest.raises(
        BadInput, match=r"the class .*Local is not the one that .* Define it at the top level"
    ):
        operand_name(Local)


def test_benchmark_stands_for_its_domains_without_its_demo() -> None:
    settings = load()
    assert named_domains(settings, ["locomo", "membench"]) == [
        *("locomo", "membench_participation", "membench_observation")
    ]
    with pytest.raises(
        BadSettings, match=r"there is no domain or benchmark 'membenc'. Did you mean membench"
    ):
        named_domains(settings, "membenc")
    with pytest.raises(
        BadSettings, match=r"the benchmark dialogues has no default domains. Name a domain, such as"
    ):
        named_domains(settings, "dialogues")


def test_failed_run_raises_with_the_reason_and_the_results_of_the_others(tmp_path: Path) -> None:
    with pytest.raises(EvaluationFailed, match=r"1 runs failed. Fix the cause, then rerun") as error:
        memflow.evaluate([Broken, "full"], DOMAIN, baselines=False, home=tmp_path / "home", progress=False)
    assert f"evaluate_memory {DOMAIN} · broken: memories: " in str(error.value)
    assert "no ink" in str(error.value)
    assert error.value.results.leaderboard().assistant.unique().tolist() == ["full"]


def test_model_at_an_address_answers_also_in_a_running_event_loop(tmp_path: Path) -> None:
    async def evaluate(url: str, memory: str) -> "memflow.Results[Any]":
        return memflow.evaluate(
            [memory, "full"],
            DOMAIN,
            limit=1,
            model=url,
            baselines=False,
            home=tmp_path,
            progress=False,
        )

    with stub_process() as url, http_echo() as (memory, _):
        results = asyncio.run(evaluate(url, memory))
    assert results.label is None
    assert set(results.leaderboard().model) == {"cli_stub"}
    assert results.compare(memory, "full", metric="locomo_f1").b.tolist() == ["full@cli_stub"]


def test_import_of_the_package_imports_no_library() -> None:
    script = (
        "import sys, memflow; print({'pandas', 'dagster', 'pyarrow', 'typer'} & {*sys.modules});"
        "print({'open', 'evaluate'} <= {*dir(memflow)}, memflow.evaluate.__module__, hasattr(memflow, 'x'))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert printed == "set()\nTrue memflow.api.evaluation False\n"


def test_retrieval_is_measured_without_an_answer_and_is_a_table(tmp_path: Path) -> None:
    results = memflow.evaluate(
        ["bm25_message", "recent_5"], "dialogues_demo", home=tmp_path, retrieval_only=True, progress=False
    )
    rows = results.retrieval(assistant="bm25_message").query(
        "metric == 'recall' and slice == 'all' and k == 5"
    )
    [value] = rows["value"]
    shown = json.loads(
        CliRunner().invoke(app, ["--home", str(tmp_path), "show", "retrieval", "--format", "json"]).stdout
    )
    scores = next(row["scores"] for row in shown if row["assistant"] == "bm25_message")
    assert [value] == [
        s["value"] for s in scores if (s["metric"], s["k"], s["slice"]) == ("recall", 5, "all")
    ]
    assert "real retrieval" in str(results) and "recent_5" in str(memflow.open(tmp_path))
    with pytest.raises(BadInput, match="no leaderboard"):
        results.leaderboard()
