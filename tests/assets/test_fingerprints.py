"""Fingerprints: which inputs, models, probes and code make which partitions stale."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memflow.assets.fingerprints import Fingerprints
from memflow.chat.replacements import PromptFile, replace_prompts
from memflow.pipeline import WRITERS, tables_of
from memflow.resources import source_code
from memflow.resources.data.library import Library
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.embedder import Embedder
from memflow.resources.settings.settings import Settings, load
from memflow.run.prompt_catalog import prompt_catalog

CATALOG = prompt_catalog()
RUN = "amemgym_v1_base_run"
FILE = """
[models.strict]
url = "http://127.0.0.1:9/v1"
model = "strict"
[roles]
judge = "{judge}"
"""
MEMORY = tuple(WRITERS["memory.indexes"].writes)


@pytest.fixture
def fingerprints(tmp_path: Path) -> Fingerprints:
    """Return fingerprints of settings without a scripted model."""
    model = Model(model="m", url="http://127.0.0.1:9/v1")
    roles = dict.fromkeys(("simulator", "judge", "backbone", "assistant"), "large")
    settings = Settings(home=tmp_path, models={"large": model}, roles=roles)
    return Fingerprints(settings, Lake(settings.lake_root), Library(None, settings.datasets))


def judged_by(folder: Path, judge: str = "scripted") -> Fingerprints:
    file = folder / f"{judge}.toml"
    file.write_text(FILE.format(judge=judge), encoding="utf-8")
    settings = load(file, {"home": folder / "home"})
    return Fingerprints(settings, Lake(settings.lake_root), Library(None))


@pytest.mark.parametrize(("meta", "scripted"), [({}, "no"), ({"scripted": "yes"}, "yes")])
def test_off_policy_assistant_is_scripted_if_the_data_set_is_scripted(fingerprints, meta, scripted) -> None:
    fingerprints.lake.write("raw.records", RUN, [], fingerprint="test", meta=meta)
    on, off = (fingerprints.settings.domain(name) for name in ("amemgym_base", "amemgym_base_offpolicy"))
    assert fingerprints.behind(off, "full")["scripted"] == scripted
    assert fingerprints.behind(on, "full")["scripted"] == "no"


def test_off_policy_domain_fingerprint_names_the_data_set_as_simulator(fingerprints) -> None:
    on, off = (fingerprints.settings.domain(name) for name in ("amemgym_base", "amemgym_base_offpolicy"))
    assert fingerprints.simulator("memory", on) is not None and fingerprints.simulator("memory", off) is None
    of_off, of_on = (fingerprints.provenance(WRITERS["memory.indexes"], each, "full") for each in (off, on))
    assert of_off["simulator"] == "the data set" and of_off["model"] == "large"
    assert of_off["fingerprint"] == fingerprints.settings.models["large"].fingerprint()
    assert of_on["simulator"] == fingerprints.simulator("memory", on)


def test_provenance_and_fingerprint_of_memory_with_embeddings_contain_the_embedder(fingerprints) -> None:
    demo = fingerprints.settings.domain("amemgym_demo")
    embedder = Embedder(kind="endpoint", url="http://127.0.0.1:9/v1", model="bge-m3")
    settings = fingerprints.settings.model_copy(update={"embedder": embedder})
    other = Fingerprints(settings, fingerprints.lake, fingerprints.library)
    assert fingerprints.behind(demo, "rag_2_4_30")["embedder"] == "hashing-256"
    assert other.behind(demo, "rag_2_4_30")["embedder"] == "bge-m3"
    assert "embedder" not in other.behind(demo, "full")
    assert other.provenance(WRITERS["memory.indexes"], demo, "rag_2_4_30")["embedder"] == "bge-m3"
    changed = [
        name for name in ("full", "rag_2_4_30") if fingerprints.answering(name) != other.answering(name)
    ]
    assert changed == ["rag_2_4_30"]


def test_provenance_and_fingerprint_of_full_contain_the_context_window_of_its_model(fingerprints) -> None:
    demo = fingerprints.settings.domain("amemgym_demo")
    model = fingerprints.settings.models["large"]
    windowed = model.model_copy(update={"profile": model.profile.model_copy(update={"window": 65_536})})
    models = {**fingerprints.settings.models, "large": windowed}
    settings = fingerprints.settings.model_copy(update={"models": models})
    other = Fingerprints(settings, fingerprints.lake, fingerprints.library)
    names = ("full@large", "recent@large", "none@large")
    changed = [name for name in names if fingerprints.answering(name) != other.answering(name)]
    assert changed == ["full@large"]
    assert other.behind(demo, "full@large")["window"] == str(65_536 - 8_192)
    assert "window" not in other.behind(demo, "recent@large")
    assert "window" not in fingerprints.behind(demo, "full@large")


REPLACED = {
    name: PromptFile(
        f"mine/{name}.md", f"{CATALOG[name].text}Changed.\n", CATALOG[name].package, CATALOG[name].roles
    )
    for name in (
        "amemgym/choice",
        "amemgym/opening",
        "amemgym/claims",
        "awi/update",
        "chat/again",
        "membench/choice",
    )
}


@pytest.fixture
def _packaged_prompts() -> Iterator[None]:
    """End replacements after the test."""
    yield
    replace_prompts({})


@pytest.mark.usefixtures("_packaged_prompts")
@pytest.mark.parametrize(
    ("name", "stale"),
    [
        ("amemgym/choice", {"amemgym_demo/full", "amemgym_demo/awi"}),
        ("awi/update", {"amemgym_demo/awi", "membench_memdaily/awi"}),
        ("membench/choice", {"membench_memdaily/full", "membench_memdaily/awi"}),
        (
            "chat/again",
            {"amemgym_demo/full", "amemgym_demo/awi", "membench_memdaily/full", "membench_memdaily/awi"},
        ),
    ],
)
def test_replaced_prompt_makes_only_partitions_that_use_it_stale(
    fingerprints, name: str, stale: set[str]
) -> None:
    def current() -> dict[str, str]:
        fresh = Fingerprints(fingerprints.settings, fingerprints.lake, fingerprints.library)
        return {
            f"{domain}/{memory}": fresh.step(WRITERS["score.verdicts"], domain, memory)
            for domain in ("amemgym_demo", "membench_memdaily")
            for memory in ("full", "awi")
        }

    before = current()
    replace_prompts({name: REPLACED[name]})
    assert {key for key, value in current().items() if value != before[key]} == stale
    replace_prompts({})
    assert current() == before


@pytest.mark.usefixtures("_packaged_prompts")
def test_verdict_metadata_names_the_replaced_prompts(fingerprints) -> None:
    def behind(domain: str, assistant: str) -> list[str]:
        meta = fingerprints.behind(fingerprints.settings.domain(domain), assistant)
        return [each.partition("@")[0] for each in meta.get("replaced_prompts", "").split()]

    assert behind("amemgym_demo", "awi") == []
    replace_prompts(REPLACED)
    of_demo = ["amemgym/choice", "amemgym/claims", "amemgym/opening"]
    assert behind("amemgym_demo", "full") == [*of_demo, "chat/again"]
    assert behind("amemgym_demo", "awi") == [*of_demo, "awi/update", "chat/again"]
    assert behind("membench_memdaily", "full") == ["chat/again", "membench/choice"]
    digest = REPLACED["awi/update"].digest[:8]
    demo = fingerprints.settings.domain("amemgym_demo")
    assert f"awi/update@{digest}" in fingerprints.behind(demo, "awi")["replaced_prompts"]


def test_changed_judge_makes_only_tables_with_judge_results_stale(tmp_path: Path) -> None:
    scripted, strict = judged_by(tmp_path), judged_by(tmp_path, "strict")
    demo, feedback = (scripted.settings.domain(name) for name in ("amemgym_demo", "memorybench_demo"))
    assert scripted.judge(feedback, "score.claims") is None
    assert scripted.judge(demo, "score.verdicts") is None
    assert scripted.judge(feedback) not in (None, strict.judge(feedback))
    claims = WRITERS["score.claims"]
    assert [each.provenance(claims, demo, "full")["scripted"] for each in (scripted, strict)] == ["yes", "no"]
    changed = {
        table
        for table in tables_of("domain x assistant")
        if scripted.step(WRITERS[table], demo, "full") != strict.step(WRITERS[table], demo, "full")
    }
    assert changed == {"score.claims"}


def test_second_judge_makes_verdicts_stale_but_a_list_of_the_same_judge_does_not(tmp_path: Path) -> None:
    def judged(judge: str | tuple[str, ...]) -> Fingerprints:
        models = {name: Model(model=name, url="http://127.0.0.1:9/v1") for name in ("a", "b")}
        settings = Settings(home=tmp_path, models=models, roles={"judge": judge})
        return Fingerprints(settings, Lake(settings.lake_root), Library(None))

    demo = judged("a").settings.domain("memorybench_demo")
    prints = {judge: judged(judge).judge(demo) for judge in ("a", ("a",), ("a", "b"), ("b", "a"))}
    assert prints["a"] == prints["a",]
    assert len({*prints.values()}) == 3


@pytest.mark.parametrize(("judge", "self_judges"), [("large", "large"), ("scripted", None)])
def test_provenance_names_judges_whose_model_also_answers(tmp_path, judge, self_judges) -> None:
    model = Model(model="m", url="http://127.0.0.1:9/v1")
    roles = {"judge": judge, "assistant": "hot"}
    models = {"large": model, "hot": model.model_copy(update={"temperature": 1.0})}
    settings = Settings(home=tmp_path, models=models, roles=roles)
    found = Fingerprints(settings, Lake(settings.lake_root), Library(None))
    assert found.behind(settings.domain("memorybench_demo"), "full").get("self_judges") == self_judges
    assert "self_judges" not in found.behind(settings.domain("membench_memdaily"), "full")


@pytest.mark.parametrize(
    ("domain", "stale"),
    [
        ("amemgym_demo", {"awi_complete"}),  # the only memory that evolves
        ("memorybench_demo_onpolicy", {"awi", "awi_complete", "full"}),
        ("memorybench_demo_same", {"awi", "awi_complete", "full"}),
        ("memorybench_demo_stepwise", set()),
    ],
)
def test_changed_probes_make_only_memories_that_read_probes_stale(tmp_path: Path, domain, stale) -> None:
    fingerprints = judged_by(tmp_path)
    before = {
        (table, name): fingerprints.step(WRITERS[table], domain, name)
        for table in MEMORY
        for name in ("awi", "awi_complete", "full")
    }
    fingerprints.lake.write("question.probes", domain, [], fingerprint="others")
    changed = {
        name
        for (table, name), value in before.items()
        if fingerprints.step(WRITERS[table], domain, name) != value
    }
    assert changed == stale


def test_changed_pronunciation_dictionary_makes_dependent_verdicts_stale(tmp_path: Path) -> None:
    bare = judged_by(tmp_path)
    dictionary = tmp_path / "cmudict.dict"
    dictionary.write_text("syllable S IH1 L AH0 B AH0 L\n", encoding="utf-8")
    settings = bare.settings.model_copy(update={"cmudict": dictionary})

    def equipped() -> Fingerprints:
        return Fingerprints(settings, bare.lake, bare.library)

    def changed(table: str, domain: str) -> bool:
        return bare.step(WRITERS[table], domain, "full") != equipped().step(WRITERS[table], domain, "full")

    assert changed("score.verdicts", "memorybench_academic")
    assert not changed("answer.replies", "memorybench_academic")
    assert not changed("score.verdicts", "memorybench_legal")
    before = equipped().metric_backends(settings.domain("memorybench_academic"))
    dictionary.write_text("syllable S IH1 L AH0 B AH0 L\ncat K AE1 T\n", encoding="utf-8")
    assert equipped().metric_backends(settings.domain("memorybench_academic")) != before


def test_leaderboard_fingerprint_changes_with_the_sql_queries(fingerprints, monkeypatch) -> None:
    before = fingerprints.step(WRITERS["score.leaderboard"])
    assert fingerprints.step(WRITERS["score.leaderboard"]) == before
    monkeypatch.setattr("memflow.assets.fingerprints.queries", lambda: "others")
    assert fingerprints.step(WRITERS["score.leaderboard"]) != before


PARTITIONS = [
    ("amemgym_demo", "full"),
    ("amemgym_demo", "mem0"),
    ("amemgym_demo", "awe_2_4_30"),
    ("membench_observation", "full"),
    ("comem_friendsqa", "full"),
    ("memorybench_demo", "full"),
]


def edited(folder: Path, monkeypatch, path: str, old: str, new: str) -> set[str]:
    """Return which tables of PARTITIONS become stale when a file of a copy of memflow is edited."""
    copy = folder / "memflow"
    if not copy.exists():
        shutil.copytree(source_code.MEMFLOW, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source_code, "MEMFLOW", copy)

    def today() -> dict[str, str]:
        found = judged_by(folder)
        return {
            f"{domain}/{assistant} {table}": found.step(WRITERS[table], domain, assistant)
            for domain, assistant in PARTITIONS
            for table in ("state.profiles", "memory.indexes", "answer.replies")
        }

    before, file = today(), copy / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return {name for name, value in today().items() if before[name] != value}


@pytest.mark.parametrize(
    ("path", "old", "new", "stale"),
    [
        ("benchmarks/amemgym/load.py", '"""', '"""Edited. ', ()),
        ("benchmarks/amemgym/load.py", "\nfrom ", "\n# a comment\nfrom ", ()),
        ("benchmarks/membench/load.py", "\nfrom ", "\nEDITED = 1\nfrom ", ("membench",)),
        ("benchmarks/amemgym/load.py", "\nfrom ", "\nEDITED = 1\nfrom ", ("amemgym",)),
        ("records/memories.py", "    speaker:", "    words: int | None = None\n    speaker:", ()),
        ("memories/mem0/memory.py", "\nfrom ", "\nEDITED = 1\nfrom ", ("/mem0",)),
        ("memories/mem0/facts.py", "\nfrom ", "\nEDITED = 1\nfrom ", ("/mem0", "/awe")),
        ("memories/baselines.py", "\nfrom ", "\nEDITED = 1\nfrom ", ("/full",)),
        ("memories/server/mirror.py", "\nfrom ", "\nEDITED = 1\nfrom ", ()),
        ("run/answer.py", "\nfrom ", "\nEDITED = 1\nfrom ", ("/",)),
    ],
)
def test_code_edit_makes_dependent_tables_stale(tmp_path: Path, monkeypatch, path, old, new, stale) -> None:
    found = edited(tmp_path, monkeypatch, path, old, new)
    assert all(any(name in each for name in stale) for each in found)
    for name in stale:
        assert any(name in each for each in found), name


def test_prompt_edit_makes_only_tables_of_the_same_benchmark_stale(tmp_path: Path, monkeypatch) -> None:
    prompt = next((source_code.MEMFLOW / "benchmarks/amemgym/prompts").glob("*.md"))
    path = str(prompt.relative_to(source_code.MEMFLOW))
    found = edited(tmp_path, monkeypatch, path, prompt.read_text(encoding="utf-8")[-20:], "edited")
    assert found and all("amemgym" in each for each in found)


def test_code_digest_is_the_same_on_all_python_versions(tmp_path: Path) -> None:
    """Syntax trees of later versions differ from those of 3.11: type parameters, empty lists and f-strings."""
    module = tmp_path / "module.py"
    module.write_text('def f(x, *y):\n    return f"{x:{y}}"\n', encoding="utf-8")
    assert source_code._parsed(module).digest == "4139238f2ca39aaa8bbe8a9fad0419a2"


def test_source_code_closure_includes_plugins_and_user_modules(tmp_path: Path, monkeypatch) -> None:
    module = tmp_path / "my_memory_module.py"
    module.write_text("from memflow.memories.rag import Rag\nVALUE = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("my_memory_module")
    code = source_code.SourceCode(plugins={"memflow.memories.rag"})
    assert {"my_memory_module", "memflow.memories.rag"} <= set(code.closure(["my_memory_module"]))
