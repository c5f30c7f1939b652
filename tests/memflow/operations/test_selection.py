"""Command line options that override the settings file."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memflow.errors import BadSettings
from memflow.memories.baselines import Recent
from memflow.memories.user_memories import UserMemory
from memflow.operations.front import Front
from memflow.operations.retrieval_only import demo_retrieval
from memflow.operations.selection import Selection, select
from memflow.resources.endpoints.profiles import profile_of

FILE = """
domains = ["amemgym_demo"]
assistants = ["recent", "full@large"]
[models.large]
kind = "endpoint"
url = "http://127.0.0.1:1/v1"
model = "a/large"
[roles]
simulator = "large"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a module `shelf` with memory classes."""
    shelf = ModuleType("shelf")
    for name in ("OakShelf", "Pine", "PINE", "Rag", "Taken"):
        setattr(shelf, name, Recent)
    monkeypatch.setitem(sys.modules, "shelf", shelf)


def selected(file: Path | None = None, **options: Any) -> Selection:
    return select(Front(settings=file), **options)


def test_run_selection_without_options_uses_the_settings_file(file: Path) -> None:
    selection = selected(file)
    assert selection.domains == ("amemgym_demo",)
    assert selection.assistants == ("recent", "full@large")
    assert selection.settings.roles.simulator == "large"


def test_run_selection_adds_baselines_of_every_used_model_once(file: Path) -> None:
    assert selected(file, memories=["full"], baselines=False).assistants == ("full",)
    assert selected(file, memories=["none", "full"]).assistants == ("none", "oracle", "previous", "full")
    settings = selected(file, domains=["amemgym_base"], memories=["full"]).settings
    assert settings.domains == ("amemgym_demo", "amemgym_base")
    assert settings.assistants == ("recent", "full@large", "none", "oracle", "previous", "full")
    selection = selected(file, memories=["full"], assistants=["recent@large", "full@large"])
    assert selection.assistants == (
        "none", "oracle", "previous", "none@large", "oracle@large", "previous@large",
        "full", "recent@large", "full@large",
    )  # fmt: skip


def test_selection_adds_previous_only_if_every_domain_has_previous_states(file: Path) -> None:
    both = ["amemgym_demo", "memorybench_demo"]
    assert selected(file, domains=both, memories=["full"]).assistants == ("none", "oracle", "full")
    with pytest.raises(
        BadSettings, match="previous cannot be run in memorybench_demo, where no question has"
    ):
        selected(file, domains=both, memories=["previous"])


def test_url_and_model_options_set_every_role_without_a_role_option(file: Path) -> None:
    selection = selected(file, url="http://127.0.0.1:2/v1", model="b/small", judge="large", preset="deepseek")
    assert selection.settings.model("cli_b_small").profile == profile_of("deepseek")
    assert selection.settings.model("cli_b_small").url == "http://127.0.0.1:2/v1"
    assert selection.settings.model("cli_b_small").model == "b/small"
    roles = selection.settings.roles
    assert (roles.simulator, roles.judge, roles.backbone, roles.assistant) == (
        "cli_b_small",
        "large",
        "cli_b_small",
        "cli_b_small",
    )


def test_model_option_without_url_requires_a_model_named_in_the_settings(file: Path) -> None:
    assert selected(file, model="large").settings.roles.assistant == "large"
    with pytest.raises(BadSettings, match="nosuch"):
        selected(file, model="nosuch")


def test_demo_option_replaces_configured_roles_with_the_scripted_chat(file: Path) -> None:
    selection = selected(file, demo=True)
    assert selection.domains == ("amemgym_demo", "memorybench_demo")
    assert {name for _, name in selection.settings.roles} == {"scripted"}
    assert {"none", "oracle", "full"} <= set(selection.assistants)
    assert not [name for name in selection.assistants if "@" in name]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "http://x/v1"}, "--url is given without a model"),
        ({"preset": "deepseek"}, "--preset is given without --url"),
        (
            {"url": "http://x/v1", "model": "m", "preset": "deepsea"},
            r"models\.cli_m\.preset.*Did you mean deepseek\?$",
        ),
        ({"demo": True, "model": "large"}, "--demo uses the scripted chat"),
        ({"embedder_url": "http://x/v1"}, "--embedder-url is given without a model"),
        ({"embedder": "no/such"}, "no/such is neither an existing folder nor .* has no address"),
        ({"domains": ["nosuch"]}, "there is no domain 'nosuch'"),
        ({"memories": ["nosuch"]}, "there is no memory 'nosuch'"),
        ({"assistants": ["full@nosuch"]}, "nosuch"),
    ],
)
def test_run_selection_rejects_invalid_options(file: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadSettings, match=said):
        selected(file, **options)


REAL = {"url": "http://127.0.0.1:2/v1", "model": "b/small", "memories": ["rag_2_4_30"]}


def test_run_selection_requires_an_explicit_embedder_with_a_language_model(
    file: Path,
) -> None:
    with pytest.raises(
        BadSettings,
        match=r"model cli_b_small, .* rag_2_4_30@cli_b_small\. .* --embedder hashing",
    ):
        selected(file, **REAL)
    assert selected(file, **REAL, embedder="hashing").settings.embedder.kind == "hashing"
    assert selected(file, **REAL | {"memories": ["full"]}).settings.embedder.kind is None
    assert selected(file, demo=True).settings.embedder.kind is None
    file.write_text(f'embedder = {{ kind = "hashing" }}\n{FILE}', encoding="utf-8")
    assert selected(file, **REAL).settings.embedder.kind == "hashing"


def test_embedder_option_accepts_a_folder_or_a_model_at_an_address(file: Path, tmp_path: Path) -> None:
    folder = selected(file, **REAL, embedder=str(tmp_path)).settings.embedder
    assert (folder.kind, folder.model) == ("folder", str(tmp_path))
    of_chat = selected(file, **REAL, embedder="bge-m3").settings.embedder
    assert (of_chat.kind, of_chat.url, of_chat.model) == ("endpoint", REAL["url"], "bge-m3")
    given = selected(file, **REAL, embedder="bge-m3", embedder_url="http://127.0.0.1:3/v1").settings.embedder
    assert given.url == "http://127.0.0.1:3/v1"
    configured = 'embedder = { kind = "endpoint", url = "http://e/v1", model = "x", key_variable = "KEY" }\n'
    file.write_text(configured + FILE, encoding="utf-8")
    of_file = selected(file, **REAL, embedder="bge-m3").settings.embedder
    assert (of_file.url, of_file.model, of_file.key_variable) == ("http://e/v1", "bge-m3", "KEY")


def test_memory_from_import_path_is_named_after_its_class(file: Path) -> None:
    selection = selected(
        file,
        memories=["shelf:OakShelf"],
        assistants=["shelf:OakShelf@large", "shelf:Pine@large"],
        baselines=False,
    )
    assert selection.assistants == ("oak_shelf", "oak_shelf@large", "pine@large")
    assert selection.settings.own_memories()["pine"] == UserMemory("shelf:Pine")
    assert selection.settings.assistants == ("recent", "full@large", *selection.assistants)
    file.write_text(
        FILE + '[memories.pine]\npath = "shelf:Pine"\nparameters = { messages = 7 }\n', encoding="utf-8"
    )
    selection = selected(file, memories=["shelf:Pine"], baselines=False)
    assert selection.settings.own_memories()["pine"] == UserMemory("shelf:Pine", {"messages": 7})


@pytest.mark.parametrize(
    ("memories", "said"),
    [
        (["shelf:Rag"], "the memory rag has the name of a built-in memory"),
        (["shelf:Pine", "shelf:PINE"], "shelf:Pine and shelf:PINE have the same name, pine"),
        (["shelf:Taken"], "shelf:Taken has the name taken, which other:Taken of memflow.toml already uses"),
        (["shelf:Nothing"], "the memory nothing: shelf:Nothing cannot be imported"),
        ([":Pine"], "is not a valid import path"),
        (["shelf:"], "is not a valid import path"),
    ],
)
def test_selection_rejects_invalid_memory_import_path(file: Path, memories: list[str], said: str) -> None:
    file.write_text(FILE + '[memories.taken]\npath = "other:Taken"\n', encoding="utf-8")
    with pytest.raises(BadSettings, match=said):
        selected(file, memories=memories)


def test_limit_option_selects_samples_of_the_domains(file: Path) -> None:
    selection = selected(file, domains=["amemgym_base", "comem_demo"], limit=2)
    assert selection.domains == ("amemgym_base~2", "comem_demo~2")
    assert {"amemgym_demo", "amemgym_base~2"} <= {*selection.settings.domains}
    assert selected(file, demo=True, limit=1).domains == ("amemgym_demo~1", "memorybench_demo~1")
    assert selected(file, limit=1).domains == ("amemgym_demo~1",)
    profiled = ["amemgym_base.published~2", "amemgym_base.published"]
    assert selected(file, domains=profiled, limit=2).domains == ("amemgym_base.published~2",)
    with pytest.raises(
        BadSettings, match=r"with the limit 3, but --limit is 2. Use --domain amemgym_base, or"
    ):
        selected(file, domains=["amemgym_base~3"], limit=2)


def test_judge_option_replaces_judges_of_role_and_of_single_domains(file: Path) -> None:
    file.write_text(
        FILE + '[judges]\nmemorybench_demo = ["scripted", "large"]\n',
        encoding="utf-8",
    )
    assert selected(file).settings.judges_of("memorybench_demo") == ("scripted", "large")
    settings = selected(file, judge="large").settings
    assert {settings.judges_of(name) for name in ("memorybench_demo", "amemgym_demo")} == {("large",)}


def test_assistants_of_another_model_than_the_default_have_its_name(file: Path) -> None:
    url = "http://127.0.0.1:2/v1"
    memories = {"memories": ["full"], "baselines": False}
    assert selected(file, **memories).assistants == ("full",)
    assert selected(file, url=url, model="a/One-2", **memories).assistants == ("full@cli_a_one_2",)
    assert selected(file, url=url, model="a/Two", **memories).assistants == ("full@cli_a_two",)
    assert selected(file, model="large", **memories).assistants == ("full@large",)
    assert selected(file, model="large", assistants=["full@scripted"], baselines=False).assistants == (
        "full@scripted",
    )


@pytest.mark.parametrize(
    "url", ["notaurl", "127.0.0.1:8000/v1", "http://", "ftp://h/v1", "http://h:99999/v1"]
)
def test_selection_rejects_a_url_without_scheme_or_host(file: Path, url: str) -> None:
    with pytest.raises(BadSettings, match=r"--url is '.*', which is no address"):
        selected(file, url=url, model="m")


def test_retrieval_is_measured_by_the_whole_demo_and_by_retrieval_only(file: Path) -> None:
    whole = selected(file, demo=True)
    assert whole.retrieval_only == demo_retrieval() and "none" in whole.assistants
    assert {name for _, name in demo_retrieval()} <= {*whole.settings.assistants}
    assert selected(file, demo=True, limit=1).retrieval_only == ()
    alone = selected(file, domains=["dialogues_demo"], memories=["bm25_message"], retrieval_only=True)
    assert (alone.assistants, alone.retrieval_only) == ((), (("dialogues_demo", "bm25_message"),))
