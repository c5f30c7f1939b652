"""Build the wheel and the source distribution, and use them in fresh environments and empty folders.

    .ci/packages.py [--demo] [--tools] [PYTHON ...]

PYTHON is a version such as 3.12 or the path of an interpreter, by default this one. `--demo` runs the demo on each.
`--tools` installs with pip from the source distribution, with `uv tool install` and with `uvx`, and checks the metadata
with twine.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).with_name("uv")
LINKS = ("assets", "resources", "sql")
"""The top-level folders that are links in the package."""
DIGEST = "from memflow.resources.source_code import SourceCode; print(SourceCode().digest(['memflow']))"
SITE = "import memflow, pathlib; print(pathlib.Path(memflow.__file__).parents[1])"
USED = {
    name: os.environ[name] for name in os.environ if not name.startswith(("MEMFLOW_", "DAGSTER_", "PYTHON"))
}


def call(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder. Return its standard output. Raises SystemExit with all output if it fails."""
    environment = USED | {"UV_TOOL_DIR": f"{folder}/tools", "UV_TOOL_BIN_DIR": f"{folder}/bin"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def build(folder: Path) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it. Return the paths of the wheel and of the source."""
    call(UV, "build", "-q", "--no-sources", "-o", folder / "dist", ROOT, folder=folder)
    (wheel,), (source,) = (list((folder / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    return wheel, source


def tracked() -> dict[str, bytes]:
    """Return the content of the package's files in the repository, by path in the wheel."""
    if (ROOT / ".git").exists():
        names = call("git", "ls-files", "memflow", *LINKS, folder=ROOT).splitlines()
    else:
        paths = (path for folder in ("memflow", *LINKS) for path in (ROOT / folder).rglob("*"))
        names = [str(path.relative_to(ROOT)) for path in paths if "__pycache__" not in path.parts]
    files = {name: ROOT / name for name in names if not (ROOT / name).is_symlink()}
    return {
        (name if name.startswith("memflow/") else f"memflow/{name}"): path.read_bytes()
        for name, path in files.items()
        if path.is_file()
    }


def check_content(wheel: Path, source: Path) -> None:
    """Raise SystemExit unless both have exactly the package's tracked files, and the wheel one top-level package."""
    expected = tracked()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    if packed != expected:
        differ = sorted(name for name in packed | expected if packed.get(name) != expected.get(name))
        raise SystemExit(
            f"{wheel.name} differs from the tracked files: {', '.join(differ[:9])}. Commit them first."
        )
    with tarfile.open(source) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    if {name for name in names if name.startswith("memflow/")} != expected.keys():
        raise SystemExit(f"{source.name} lacks files of the package, or has more.")


def modules(site: Path) -> set[str]:
    """Return the installed files of memflow, without compiled modules."""
    return {str(path) for path in (site / "memflow").rglob("*") if "__pycache__" not in path.parts}


def use(python: str, wheel: Path, folder: Path, demo: bool) -> None:
    """Install the wheel for a Python, run commands in an empty folder, and print sizes and times."""
    began, empty = time.monotonic(), Path(tempfile.mkdtemp(dir=folder))
    venv = Path(tempfile.mkdtemp(dir=folder))
    call(UV, "venv", "-q", "--clear", "--python", python, venv, folder=empty)
    call(
        *(UV, "pip", "install", "-q", "--python", venv / "bin/python"),
        *("-c", ROOT / "requirements.lock", wheel),
        folder=empty,
    )
    installed = time.monotonic() - began
    site = Path(call(venv / "bin/python", "-c", SITE, folder=empty))
    packages = (
        len(call(UV, "pip", "list", "-q", "--python", venv / "bin/python", folder=empty).splitlines()) - 2
    )
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    before = modules(site)
    call(venv / "bin/memflow", "--help", folder=empty)
    call(venv / "bin/memflow", "domains", folder=empty)
    if call(venv / "bin/python", "-c", DIGEST, folder=empty) != call(
        sys.executable, "-c", DIGEST, folder=ROOT
    ):
        raise SystemExit(f"fingerprints differ between the clone and the wheel on Python {python}")
    if demo:
        call(venv / "bin/memflow", "run", "--demo", folder=empty)
    if written := sorted(modules(site) - before):
        raise SystemExit(f"memflow wrote files beside its code: {', '.join(written)}")
    print(
        f"Python {python}: {packages} packages, {size / 1e6:,.0f} MB, installed in {installed:.0f} s, "
        f"{'demo' if demo else 'commands'} in {time.monotonic() - began - installed:.0f} s",
        flush=True,
    )


def use_tools(python: str, wheel: Path, source: Path, folder: Path) -> None:
    """Install as other tools do: pip from the source distribution, `uv tool install`, `uvx`; check the metadata."""
    commands: dict[str, list[list[str | Path]]] = {
        "pip install, source distribution": [
            [UV, "venv", "-q", "--seed", "--python", python, folder / "pip"],
            [folder / "pip/bin/python", "-m", "pip", "install", "-q", source],
            [folder / "pip/bin/memflow", "domains"],
        ],
        "uv tool install": [
            [UV, "tool", "install", "-q", "--python", python, wheel],
            [folder / "bin/memflow", "domains"],
        ],
        "uvx": [[UV, "tool", "run", "-q", "--python", python, "--from", wheel, "memflow", "domains"]],
        "twine check": [[UV, "tool", "run", "-q", "twine", "check", "--strict", wheel, source]],
    }
    for name, steps in commands.items():
        began = time.monotonic()
        for step in steps:
            call(*step, folder=folder)
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


def main() -> None:
    """Build, check and use the packages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON")
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--tools", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memflow-packages-") as text:
        folder = Path(text)
        wheel, source = build(folder)
        check_content(wheel, source)
        for python in arguments.pythons:
            use(python, wheel, folder, arguments.demo)
        if arguments.tools:
            use_tools(arguments.pythons[0], wheel, source, folder)


if __name__ == "__main__":
    main()
