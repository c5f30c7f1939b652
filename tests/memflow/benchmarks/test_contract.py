"""Contract of every registered benchmark, shipped or from another package."""

from importlib.resources import files

import pytest

from memflow.annotation.kind import Kind
from memflow.benchmarks import registry
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.capabilities import SimulatedFeedback
from memflow.benchmarks.plugins import code_problem, load_object
from memflow.benchmarks.step_values import Annotators
from memflow.benchmarks.views import Export, Import, View
from memflow.chat.prompts import all_prompts
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import find
from memflow.metrics.backends import MetricBackends
from memflow.records import TABLES
from memflow.resources.data.library import Library
from memflow.run.answer import answer_all
from memflow.run.handlers import handlers
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

BENCHMARKS = [spec.name for spec in registry.specs()]
FILES = (
    *("benchmark.py", "config.py", "load.py", "turns.py", "probes.py"),
    *("question.py", "scoring.py", "scripted.py", "answers.py", "prompts"),
)
"""The files and folders of each benchmark of ours; `checks` and `views` are modules or packages besides."""


@pytest.fixture(params=BENCHMARKS)
def spec(request):
    return registry.spec_of(request.param)


def test_benchmark_spec_has_titles_registered_domains_and_importable_code(spec) -> None:
    assert code_problem(spec) == ""
    assert spec.title and spec.unit and all(domain.title for domain in spec.domains)
    assert spec.demo in {"", *(domain.name for domain in spec.domains)}
    assert {domain.name: domain for domain in spec.domains}.items() <= registry.domains().items()


def test_benchmark_declares_views_exports_imports_checks_and_plots_of_valid_types(spec) -> None:
    parts = (spec.views, spec.exports, spec.imports)
    views, exports, imports = (load_object(path) if path else () for path in parts)
    assert all(isinstance(each, View) for each in views) and all(isinstance(each, Export) for each in exports)
    assert all(isinstance(each, Import) for each in imports)
    functions = (*(each.show for each in views), *(each.export for each in exports))
    for function in (*functions, *(each.read for each in imports)):
        assert callable(load_object(function) if isinstance(function, str) else function)
    assert all(each.benchmark == spec.name for each in registry.expectations(spec.name))
    assert all(each.table in TABLES for each in registry.expectations(spec.name))
    assert all(isinstance(each, Kind) for each in registry.annotation_kinds(spec.name).values())


def test_every_domain_of_benchmark_has_valid_stages_backends_and_prompts(spec) -> None:
    benchmark = registry.benchmark(spec.name)
    for domain in spec.domains:
        assert isinstance(benchmark.simulator_stages(domain), frozenset)
        assert isinstance(benchmark.metric_backends(domain), frozenset)
        prompts = benchmark.annotation_prompts(domain)
        for table in ("score.verdicts", "score.claims"):
            prompts += benchmark.judge_prompts(domain, table)
        assert {prompt.name for prompt in prompts} <= set(handlers())


def test_every_prompt_of_benchmark_has_a_scripted_handler(spec) -> None:
    package = spec.implementation.partition(":")[0].rpartition(".")[0]
    prompts = all_prompts(package)
    assert prompts and {prompt.name for prompt in prompts} <= set(registry.benchmark(spec.name).handlers())


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if registry.installed().plugins[name].ours])
def test_folder_of_shipped_benchmark_has_all_standard_file_names(name: str) -> None:
    found = {item.name for item in files(f"memflow.benchmarks.{name}").iterdir()}
    assert found >= set(FILES)
    spec = registry.installed().plugins[name].spec
    assert bool(spec.checks) == bool({"checks", "checks.py"} & found)
    assert bool(spec.views or spec.imports or spec.exports) == bool({"views", "views.py"} & found)


async def test_scripted_run_of_benchmark_gives_verdicts_for_all_probes_and_scores(spec) -> None:
    library, benchmark = Library(None), registry.benchmark(spec.name)
    shipped = {dataset.name for dataset in spec.datasets if dataset.ships}
    domain = next(each for each in spec.domains if set(each.datasets) <= shipped).limited(2)
    chat = ScriptedChat(handlers())
    tools = Tools(chat, HashingEmbedder())
    records = [
        record
        for name in domain.datasets
        for record in benchmark.records(registry.find_dataset(name), library.paths(name))
    ]
    states = await benchmark.states(domain, records, chat)
    turns = await benchmark.turns(domain, records, states, chat)
    labels = await benchmark.gold_labels(domain, records, turns, Annotators(chat, chat))
    probes = await benchmark.probes(domain, records, states, turns, chat, labels)
    feedback = []
    if isinstance(benchmark, SimulatedFeedback):
        feedback = await benchmark.feedback(domain, turns, probes, chat, chat, tools)
    assert turns and probes and {row.domain for row in (*turns, *probes)} == {domain.name}
    remember = find("full").factory(tools)
    episodes = benchmark.episodes(domain, states, turns, feedback, chat, probes)
    played = await play_all(episodes, remember, benchmark.replier(domain, chat))
    tests = [probe for probe in probes if probe.split == "test"]
    entries, messages = (rows(domain.name, "full", played) for rows in (entry_rows, transcript_rows))
    histories = episode_histories(entries, messages, tests)
    replies = await answer_all(benchmark, domain, "full", tests, histories, remember, chat)
    verdicts = await benchmark.verdicts(domain, tests, replies, MetricBackends(chat))
    assert {row.probe_id for row in verdicts} == {probe.probe_id for probe in tests}
    assert all((row.value is None) != (row.reason is None) for row in verdicts)
    results = AssistantResults(
        *(domain.name, "full", "full", "scripted", tests, verdicts, (), (), "", True),
        population=benchmark.population(()),
    )
    scores = benchmark.scores(domain, results)
    assert benchmark.aggregates_in_sql or scores
    assert {(score.domain, score.assistant) for score in scores} <= {(domain.name, "full")}
