"""A new environment with memflow and a package of examples/, installed with pip as a user installs it."""

import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Call = Callable[..., str]


def plugin_environment(folder: Path, package: str) -> Call:
    """Create the environment in a folder, and return a function that calls its Python and returns the output."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"

    def call(*arguments: str) -> str:
        command = [str(python), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    site = call("-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    installed = f"{ROOT}\n{sysconfig.get_paths()['purelib']}\n"  # memflow and what it depends on
    (Path(site) / "memflow_of_these_tests.pth").write_text(installed)
    call(
        "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools"
    )  # Python 3.11 bundles one that builds no wheels
    source = shutil.copytree(ROOT / "examples" / package, folder / "source")
    call("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", str(source))
    shutil.rmtree(source)
    return call
