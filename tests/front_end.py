"""The report's front end with its npm packages, for tests that build it or need a package of it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

APP = Path(__file__).parent.parent / "resources" / "report" / "app"


@pytest.fixture(scope="session")
def front_end(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the front end's source with its packages. Skip without node, npm or a package registry."""
    if None in (shutil.which("node"), shutil.which("npm")):
        pytest.skip("needs node and npm (Debian: apt install nodejs npm)")
    folder = tmp_path_factory.mktemp("front_end") / "app"
    shutil.copytree(APP, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    installed = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=folder,
        env={**os.environ, "npm_config_update_notifier": "false"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if installed.returncode:
        pytest.skip(f"npm cannot install the front end's packages: {installed.stderr[-300:]}")
    return folder
