"""The rooms know each other in one direction only: memflow <- resources <- assets.<stage> <- assets.definitions."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OUTER = {
    "dagster",
    "duckdb",
    "lancedb",
    "openai",
    "vllm",
    "great_expectations",
    "resources",
    "assets",
    "sqlalchemy",
}
STAGES = {"raw", "states", "utterances", "questions", "feedback", "memories", "answers", "scores"}


def sources(room: str) -> list[Path]:
    return sorted(path for path in (ROOT / room).rglob("*.py"))


def imported(path: Path, *, at_module_level: bool = False) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if at_module_level else list(ast.walk(tree))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


SUBJECT = [path for path in sources("memflow") if "cli" not in path.parts]


def test_there_is_a_subject() -> None:
    assert len(SUBJECT) > 20


@pytest.mark.parametrize("path", SUBJECT, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_subject_knows_no_outer_room(path: Path) -> None:
    assert not {name for name in imported(path) if name.split(".")[0] in OUTER}


READS_OTHERWISE = ROOT / "memflow" / "memories" / "lib_mem0" / "library.py"
"""Holds the environment of a foreign package while that is imported: it would write to the home folder and report."""


@pytest.mark.parametrize(
    "path",
    [path for path in SUBJECT if path != READS_OTHERWISE],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_subject_reads_no_clock_no_environment_and_no_global_random(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    forbidden = re.compile(
        r"os\.environ.*|os\.getenv|time\.\w+|datetime\.(now|today|utcnow)|datetime\.datetime\.(now|utcnow)|date\.today"
        r"|random\.(random|choice|choices|shuffle|sample|randint|seed|gauss)|np\.random\.(seed|rand|randn|random|choice)"
    )
    assert not sorted(name for name in used if forbidden.fullmatch(name))


@pytest.mark.parametrize("path", sources("resources"), ids=lambda path: path.name)
def test_resources_know_no_asset(path: Path) -> None:
    assert not {name for name in imported(path) if name.split(".")[0] == "assets"}


@pytest.mark.parametrize("path", sources("assets"), ids=lambda path: path.name)
def test_stages_meet_by_asset_key_alone(path: Path) -> None:
    if path.stem in STAGES:
        assert not {name for name in imported(path) if name in {f"assets.{stage}" for stage in STAGES}}


@pytest.mark.parametrize("path", [*sources("assets"), *sources("resources")], ids=lambda path: path.name)
def test_no_postponed_annotations_where_dagster_reads_them(path: Path) -> None:
    assert "__future__" not in imported(path)


PLAIN = ROOT / "memflow" / "benchmarks" / "plain_pickle.py"
"""Reads a published pickle and admits plain values alone."""


@pytest.mark.parametrize(
    "path", [*SUBJECT, *sources("resources"), *sources("assets")], ids=lambda path: path.name
)
def test_no_sql_and_no_evaluation_in_python(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(SELECT\s+.+\s+FROM|INSERT\s+INTO|DELETE\s+FROM)\b", text)
    assert not re.search(r"(?<![\w.])(eval|exec)\(|__import__\(", text)
    assert path == PLAIN or not imported(path) & {"pickle", "cPickle", "dill", "cloudpickle"}


def test_prompts_stand_in_files() -> None:
    names = [path for path in (ROOT / "memflow").rglob("*.md")]
    assert names and all(path.parent.name == "prompts" for path in names)
