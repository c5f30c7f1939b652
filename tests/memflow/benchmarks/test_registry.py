"""Benchmark plug-ins of other packages: discovery, and isolation of unusable plug-ins."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memflow import entry_points
from memflow.benchmarks import registry
from memflow.checks.expectations import all_expectations, expectations_of
from memflow.errors import BadInput, BadSettings
from memflow.run.handlers import handlers

SPEC = """
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.spec import BenchmarkSpec
DOMAINS = (Domain("tiny_one", "tiny", (), "A tiny one"),)
SPEC = BenchmarkSpec("tiny", "Tiny", DOMAINS, "tiny_code:Tiny", views="tiny_code:VIEWS")
"""
CODE = """
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.views import Answer, View
class Tiny(AMemGym):
    name = "tiny"
VIEWS = (View("gains", "Show tiny gains.", lambda reader: Answer({"tiny": 1}, [])),)
"""

ROOT = Path(__file__).resolve().parents[3]
Install = Callable[..., None]


def clear_caches() -> None:
    """Let the registry look for installed benchmarks again."""
    entry_points.installed.cache_clear()
    for cached in ("installed", "domains", "datasets", "benchmark", "expectations", "protocol"):
        getattr(registry, cached).cache_clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Write modules and the metadata of a package that provides benchmarks, as pip does."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    before = set(sys.modules)

    def write(package: str, entries: str, **modules: str) -> None:
        for name, text in modules.items():
            (site / f"{name}.py").write_text(text, encoding="utf-8")
        folder = site / f"{package}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (folder / "entry_points.txt").write_text(f"[{entry_points.BENCHMARKS}]\n{entries}\n")
        clear_caches()
        all_expectations.cache_clear()

    yield write
    clear_caches()
    all_expectations.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith("tiny"):
            del sys.modules[name]


def test_benchmark_plugin_is_registered_and_its_code_imported_on_demand(install: Install) -> None:
    ours = list(registry.domains())
    install("tiny", "tiny = tiny_spec:SPEC", tiny_spec=SPEC, tiny_code=CODE)
    assert list(registry.domains()) == [*ours, "tiny_one"]
    assert "tiny_code" not in sys.modules, "its code is imported on demand"
    assert registry.benchmark("tiny").name == "tiny"
    assert registry.problems(ours=True) == []
    assert registry.views()["gains"][0].name == "memorybench", "the name of a view of ours is kept"
    assert registry.views()["tiny-gains"][0].name == "tiny"


@pytest.mark.parametrize(
    ("entries", "spec", "code", "reason"),
    [
        ("tiny = tiny_spec:NOTHING", SPEC, CODE, r"tiny_spec:NOTHING cannot be imported \(AttributeError"),
        ("tiny = tiny_spec:SPEC", "raise OSError('disk')", CODE, r"cannot be imported \(OSError: disk\)"),
        ("tiny = tiny_spec:Domain", SPEC, CODE, "is not a memflow.benchmarks.spec.BenchmarkSpec"),
        ("other = tiny_spec:SPEC", SPEC, CODE, "differs from the name of the entry point"),
        ("tiny = tiny_spec:SPEC", SPEC.replace('"tiny", ()', '"big", ()'), CODE, "belongs to the benchmark 'big'"),
        ("tiny = tiny_spec:SPEC", SPEC.replace('"tiny", ()', '"tiny", ("gone",)'), CODE, "uses the data set 'gone'"),
        ("tiny = tiny_spec:SPEC", SPEC.replace("tiny_one", "amemgym_demo"), CODE, "has a domain 'amemgym_demo'"),
        ("tiny = tiny_spec:SPEC", SPEC.replace("tiny_one", "Tiny!"), CODE, "'Tiny!' is not a valid name"),
        ("tiny = tiny_spec:SPEC", SPEC.replace("tiny_code:Tiny", ""), CODE, "has no implementation"),
        ("amemgym = tiny_spec:SPEC", SPEC.replace('"tiny"', '"amemgym"'), CODE, "has a benchmark with the same name"),
        ("tiny = tiny_spec:SPEC", SPEC, "import missing_module", r"\(ModuleNotFoundError"),
        ("tiny = tiny_spec:SPEC", SPEC, CODE.replace("(AMemGym)", ""), "is not a subclass of"),
        ("tiny = tiny_spec:SPEC", SPEC, CODE.replace("AMemGym", "Benchmark").replace("amemgym.benchmark", "api"),
         "does not define"),
        ("tiny = tiny_spec:SPEC", SPEC, CODE.replace('name = "tiny"', 'name = "big"'), "has the name 'big'"),
    ],
)  # fmt: skip
def test_unusable_plugin_is_reported_and_other_benchmarks_still_work(
    install: Install, entries: str, spec: str, code: str, reason: str
) -> None:
    before = dict(registry.domains()), len(handlers()), len(all_expectations()), list(registry.views())
    install("tiny", entries, tiny_spec=spec, tiny_code=code)
    [problem] = registry.problems()
    assert problem.package == "tiny 1.2"
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(str(problem))
    domains, views = dict(registry.domains()), list(registry.views())
    domains.pop("tiny_one", None)
    assert (domains, len(handlers()), len(all_expectations())) == before[:3]
    assert [name for name in views if "tiny" not in name] == before[3]
    if problem.name != "amemgym":
        with pytest.raises(BadSettings, match=f"{problem.name} of the package tiny 1.2"):
            registry.benchmark(problem.name)


def test_checks_of_a_plugin_apply_only_to_domains_of_the_plugin(install: Install) -> None:
    rules = (
        "from memflow.checks.rules import Expectation, MinimumRows\n"
        "EXPECTED = (Expectation('question.probes', 'some_rows', MinimumRows()),)"
    )
    spec = SPEC.replace('views="tiny_code:VIEWS"', 'checks=("tiny_rules:EXPECTED", "tiny_gone:EXPECTED")')
    install("tiny", "tiny = tiny_spec:SPEC", tiny_spec=spec, tiny_rules=rules, tiny_gone="EXPECTED = ()")
    [rule] = [each for each in expectations_of("question.probes", "tiny") if each.name == "some_rows"]
    assert rule.benchmark == "tiny" and rule in all_expectations()
    assert rule not in expectations_of("question.probes", "amemgym")


@pytest.mark.parametrize(
    "folder",
    [
        "memflow/cli",
        "memflow/operations",
        "memflow/plots",
        "memflow/scoring",
        "memflow/checks",
        "assets",
        "resources",
    ],
)
def test_code_outside_benchmarks_package_contains_no_benchmark_name(folder: str) -> None:
    # The word is also a common noun, so it counts only where it names the benchmark.
    patterns = {"dialogues": r"benchmarks\.dialogues|[\"']dialogues(_demo|_sample)?[\"']"}
    names = "|".join(patterns.get(spec.name, spec.name) for spec in registry.specs())
    citation = re.compile(
        rf"({names})(, (section|figure|table|appendix) |'s (paper|tables?|figures?)\b)", re.IGNORECASE
    )
    named = re.compile(names, re.IGNORECASE)
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / folder).rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if named.search(citation.sub("", line))
    }
    assert found == set()


def test_error_for_missing_entry_points_has_reinstall_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [])
    clear_caches()
    try:
        with pytest.raises(BadSettings, match=r"another Python than .*`pip install --force-reinstall"):
            registry.domains()
    finally:
        monkeypatch.undo()
        clear_caches()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("memflow/__init__.py", "memflow_bench-0.3.0.dist-info", "memflow_plugin-1.dist-info"), None),
        (
            ("memflow/__init__.py", "memflow-0.2.0.dist-info"),
            r"has files of memflow-0\.2\.0, another project",
        ),
        (("memflow/cli",), "lacks files of memflow"),
    ],
    ids=["alone", "beside", "after it was removed"],
)
def test_another_package_of_the_same_name_in_the_environment_is_refused(
    tmp_path: Path, files: tuple[str, ...], message: str | None
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    if message is None:
        entry_points.require_own_package(tmp_path / "memflow")
        return
    with pytest.raises(BadSettings, match=rf"{message}\. .*pip uninstall -y memflow memflow-bench"):
        entry_points.require_own_package(tmp_path / "memflow")


@pytest.mark.parametrize(
    ("find", "error", "message"),
    [
        (lambda: registry.find_domain("amemgim_demo"), BadSettings, "Did you mean amemgym_demo"),
        (lambda: registry.find_dataset("locom"), BadInput, "Did you mean locomo"),
        (lambda: registry.benchmark("membanch"), BadSettings, "Did you mean membench"),
        (lambda: registry.find_domain("xyz"), BadSettings, "`memflow domains` lists all"),
    ],
)
def test_error_for_misspelled_name_is_short_and_suggests_similar_names(find, error, message: str) -> None:
    with pytest.raises(error) as raised:
        find()
    assert message in str(raised.value) and len(str(raised.value)) < 200
