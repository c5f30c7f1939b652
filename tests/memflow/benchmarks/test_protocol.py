"""Protocol points of every benchmark, and the profiles that they define."""

from dataclasses import replace
from pathlib import Path

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.domain_names import DEFAULT_PROFILE, PROFILES
from memflow.benchmarks.domains import Domain, RoleDecoding, parse_parameters
from memflow.benchmarks.protocol import (
    ProtocolPoint,
    apply_profile,
    variants,
    with_profile,
)
from memflow.benchmarks.protocol_file import read_points
from memflow.benchmarks.protocol_settings import (
    EmbeddingModel,
    Fixed,
    Parameter,
    PromptText,
    Setting,
    Temperature,
    TokenLimit,
    Values,
    Variant,
)
from memflow.memories.deviations import deviations_of
from memflow.memories.systems import SYSTEMS
from memflow.run.prompt_catalog import prompt_catalog
from memflow.scoring.catalog import find_metric

ROOT = Path(__file__).parents[3]
BENCHMARKS = [spec.name for spec in registry.specs() if spec.protocol]
DOMAINS = [name for name, domain in registry.domains().items() if domain.benchmark in BENCHMARKS]
DOMAIN = Domain("d", "b", (), "", {"k": 1, "other": 2})


def point(setting: Setting, **fields: object) -> ProtocolPoint:
    return replace(ProtocolPoint("p", "topic", "paper", "memflow", "source", setting), **fields)


def test_profile_sets_parameters_temperatures_and_token_limits_of_a_domain() -> None:
    points = [
        point(Parameter(Values(published=5, memflow=7), "k")),
        point(Temperature(Values(published=0.2), "simulator")),
        point(TokenLimit(Values(published=100), "simulator")),
        point(Fixed(as_published=False)),
    ]
    published = with_profile(DOMAIN, points, "published")
    assert (published.name, published.profile) == ("d.published", "published")
    assert published.parameters == {"k": 5, "other": 2}
    assert published.decoding == {"simulator": RoleDecoding(0.2, 100)}
    ours = with_profile(DOMAIN, points, "memflow")
    assert (ours.parameters["k"], ours.decoding) == (7, {})
    assert with_profile(DOMAIN, points, DEFAULT_PROFILE) is DOMAIN


def test_profile_does_not_apply_points_whose_condition_excludes_the_domain() -> None:
    points = [point(Parameter(Values(published=5), "k"), concerns=lambda domain: domain.name != "d")]
    assert apply_profile(DOMAIN, points, "published").parameters == DOMAIN.parameters


def test_variants_returns_the_variant_of_each_metric_under_a_profile() -> None:
    points = [point(Variant(Values(published="code"), ("recall", "accuracy"))), point(Fixed(True))]
    assert variants(points, "published") == {"recall": "code", "accuracy": "code"}
    assert variants(points, "paper") == {}


def test_fixed_point_deviates_unless_memflow_does_what_the_published_code_does() -> None:
    assert not point(Fixed(as_published=True)).deviates(None)
    assert point(Fixed(as_published=False)).deviates(None)


def test_model_point_ignores_the_owner_in_a_model_name() -> None:
    embedder = point(EmbeddingModel("text-embedding-3-small"))
    assert not embedder.deviates("openai/text-embedding-3-small")
    assert embedder.deviates("text-embedding-3-large")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_points_of_benchmark_have_unique_names_and_refer_to_existing_parameters_prompts_and_metrics(
    name: str,
) -> None:
    protocol = registry.protocol(name)
    names = [each.name for each in protocol.points]
    assert len(set(names)) == len(names)
    for each in protocol.points:
        assert each.topic and each.memflow and each.source, each.name
        assert {*each.memories} <= {*SYSTEMS}, each.name
        match each.setting:
            case Parameter(name=parameter):
                assert parameter in protocol.parameters.model_fields, each.name
            case Variant(metrics=metrics, values=values):
                assert all(values.published in find_metric(metric).variants for metric in metrics), each.name


@pytest.mark.parametrize("name", BENCHMARKS)
def test_default_of_parameter_is_the_value_of_the_paper(name: str) -> None:
    protocol = registry.protocol(name)
    defaults = protocol.parameters().model_dump(mode="json")
    for each in protocol.points:
        if isinstance(each.setting, Parameter) and each.setting.values.paper is not None:
            if each.concerns is not point(each.setting).concerns and name == "comem":
                continue  # CoMem's sources differ in how messages arrive
            assert defaults[each.setting.name] == each.setting.values.paper, each.name


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_has_valid_parameters_under_every_profile(name: str, profile) -> None:
    domain = registry.domains()[name]
    protocol = registry.protocol(domain.benchmark)
    under = with_profile(domain, protocol.points, profile)
    parse_parameters(protocol.parameters, under)
    assert registry.benchmark(domain.benchmark).simulator_stages(under) is not None


def test_every_prompt_file_has_a_point_and_every_point_names_prompt_files() -> None:
    shared = read_points("memflow.benchmarks", "protocol.yaml", {})
    points = [(name, point) for name in BENCHMARKS for point in (*registry.protocol(name).points, *shared)]
    named = {
        prompt
        for benchmark, point in points
        if isinstance(point.setting, PromptText)
        for prompt in point.setting.names(benchmark)
    }
    systems = [SYSTEMS[name] for name in SYSTEMS]
    named |= {
        prompt for system in systems for point in deviations_of(system) for prompt in point.get("prompts", ())
    }
    without_paper = {
        name for name in prompt_catalog() if name.partition("/")[0] in ("dialogues", "retraction")
    }
    files = {*prompt_catalog()} - without_paper
    originals = {name.removesuffix("_zh") if name.removesuffix("_zh") in files else name for name in files}
    assert (originals - named, named - originals) == (set(), set())
