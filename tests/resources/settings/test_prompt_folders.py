"""The user's prompt folders: which prompts their files replace, and the problems of files that cannot."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memflow.chat.prompts import load
from memflow.chat.replacements import replace_prompts, replacements
from memflow.errors import BadSettings
from memflow.resources.settings.prompt_folders import activate_prompts, read_prompts
from memflow.resources.settings.settings import Settings
from memflow.resources.settings.settings import load as load_settings
from memflow.run.prompt_catalog import prompt_catalog

CATALOG = prompt_catalog()


@pytest.fixture(autouse=True)
def _packaged_prompts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Work in an empty folder, and end replacements after each test."""
    monkeypatch.chdir(tmp_path)
    yield
    replace_prompts({})


def write(folder: Path, *names: str, before: str = "", after: str = "") -> Path:
    """Write copies of packaged prompts with one part of the text exchanged."""
    for name in names:
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = CATALOG[name].text.replace(before, after) if before else CATALOG[name].text
        path.write_text(text, encoding="utf-8")
    return folder


def changed(folder: Path, *names: str) -> Path:
    return write(folder, *names, before="# user\n", after="# user\nChanged.\n")


def test_copies_of_all_packaged_prompts_have_no_problems(tmp_path: Path) -> None:
    found = read_prompts(write(tmp_path / "mine", *CATALOG), CATALOG)
    assert found.problems == [] and found.files.keys() == CATALOG.keys()
    assert all(found.files[name].digest == each.prompt.digest for name, each in CATALOG.items())


def test_activate_prompts_replaces_only_prompts_that_differ_from_packaged_files(tmp_path: Path) -> None:
    write(changed(tmp_path / "mine", "amemgym/choice"), "amemgym/state")
    activate_prompts(Settings(prompts=tmp_path / "mine"))
    assert replacements().keys() == {"amemgym/choice"}
    message = load("memflow.benchmarks.amemgym", "choice").render({"question": "Q", "options": "O"})[-1]
    assert message.content.startswith("Changed.")
    activate_prompts(Settings())
    assert not replacements()


@pytest.mark.parametrize("text", ['prompts = "mine"\n', ""])
def test_prompts_folder_is_read_from_memflow_toml_or_the_environment(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(tmp_path / "mine", "awi/update")
    Path("memflow.toml").write_text(text, encoding="utf-8")
    if not text:
        monkeypatch.setenv("MEMFLOW_PROMPTS", "mine")
    activate_prompts(load_settings())
    assert replacements().keys() == {"awi/update"}


@pytest.mark.parametrize(
    ("path", "text", "what", "fix"),
    [
        (
            "amemgym/chioce.md",
            "",
            "there is no prompt 'amemgym/chioce'. Did you mean amemgym/choice",
            "Name the file",
        ),
        ("choice.md", "", "there is no prompt 'choice'", "Name the file"),
        ("amemgym/choice.md", "no front matter", "the front matter of .* is invalid", "Fix the file"),
        (
            "amemgym/choice.md",
            "name: amemgym/state",
            "its name is amemgym/state",
            "Set `name` to amemgym/choice",
        ),
        ("amemgym/choice.md", "fields: [question]", "but the text uses", "Declare exactly the used fields"),
        ("amemgym/choice.md", b"\xff\xfe", "it cannot be read: .*utf-8", "UTF-8"),
        ("amemgym/choice.md", "a" * 1_000_001, "more than 1,000,000 bytes", "Shorten"),
    ],
)
def test_every_prompt_file_problem_names_the_file_and_the_fix(
    path: str, text: str | bytes, what: str, fix: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "mine", "amemgym/choice", "awi/update") / path
    if isinstance(text, bytes):
        file.write_bytes(text)
    elif ": " in text:
        key = text.partition(":")[0]
        file.write_text(re.sub(f"{key}:.*", text, CATALOG["amemgym/choice"].text), encoding="utf-8")
    else:
        file.write_text(text, encoding="utf-8")
    files, [problem] = read_prompts(tmp_path / "mine", CATALOG)
    assert problem.file == str(file) and re.search(what, problem.what) and fix in problem.fix
    assert "awi/update" in files
    with pytest.raises(BadSettings, match=r"cannot be used: .*memflow doctor"):
        activate_prompts(Settings(prompts=tmp_path / "mine"))


def test_missing_folder_is_a_problem_and_a_readme_is_none(tmp_path: Path) -> None:
    folder = changed(tmp_path / "mine", "amemgym/claims")
    (folder / "README.md").write_text("About these prompts.", encoding="utf-8")
    assert read_prompts(folder, CATALOG).problems == []
    [problem] = read_prompts(tmp_path / "none", CATALOG).problems
    assert problem.what == "the folder does not exist"
