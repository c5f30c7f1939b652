"""Packaging files: consistent locks, version and image dependencies."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = re.compile(r"^([a-z0-9][\w.-]*)(?:\[[\w, -]+\])?==([^\s;]+)([^\\]*)\\$", re.MULTILINE)


def locked(name: str) -> set[tuple[str, str, str]]:
    """Return name, version and environment marker of every package in a lock."""
    return {
        (package, version, marker.strip())
        for package, version, marker in LOCKED.findall((ROOT / name).read_text(encoding="utf-8"))
    }


def test_development_lock_contains_the_runtime_lock() -> None:
    runtime, development = locked("requirements.lock"), locked("requirements-dev.lock")
    names = {package for package, _, _ in runtime}
    assert {each[:2] for each in runtime} <= {each[:2] for each in development}
    assert "dagster" in names and not names & {"pytest", "mkdocs", "ruff", "matplotlib"}


def test_lock_files_have_hashes_and_no_index_url() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert len(re.findall(r"^[a-z0-9]", text, re.MULTILINE)) == len(locked(name))
        assert (
            text.count("--hash=sha256:") > len(locked(name))
            and "://" not in text
            and "index" not in text.split()
        )


def test_docker_image_installs_only_the_runtime_lock() -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in image and "requirements-dev" not in image


def test_changelog_begins_with_the_current_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first and first[1] == PROJECT["version"]


def test_memflow_package_contains_the_py_typed_marker() -> None:
    assert (ROOT / "memflow" / "py.typed").exists()


MODULES = """
import json, sys
from pathlib import Path
from importlib import import_module
import memflow.assets.definitions
from memflow.cli import COMMANDS
for command in COMMANDS.values():
    import_module(command.path.partition(":")[0])
files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
root = Path(files["memflow"]).parents[1].resolve()
print(json.dumps({
    name: str(Path(file).resolve()) for name, file in files.items()
    if file and Path(file).resolve().is_relative_to(root) and ".venv" not in Path(file).parts
}))
"""


def test_every_module_has_one_name_below_memflow() -> None:
    """In the repository's root, `assets` and `resources` could be imported as well: their folders are there."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = json.loads(done.stdout)
    assert len(files) > 300 and len(set(files.values())) == len(files)
    assert {name.partition(".")[0] for name in files} == {"memflow"}
