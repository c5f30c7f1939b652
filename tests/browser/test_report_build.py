"""The committed bundle of the report is what its sources build."""

import json
import subprocess
from pathlib import Path

import pytest
from front_end import APP, front_end

__all__ = ["front_end"]

pytestmark = pytest.mark.browser


def test_rebuilding_gives_the_committed_bytes(front_end: Path) -> None:
    (front_end / "dist").mkdir()
    subprocess.run(["node", "build.mjs"], cwd=front_end, check=True, capture_output=True, timeout=120)
    built = {path.name: path.read_bytes() for path in (front_end / "dist").iterdir()}
    committed = {path.name: path.read_bytes() for path in (APP / "dist").iterdir()}
    assert built.keys() == committed.keys()
    differing = [name for name in built if built[name] != committed[name]]
    assert differing == [], "run `npm ci && npm run build` in resources/report/app and commit dist/"


def test_package_versions_are_exact_and_the_lock_names_no_host() -> None:
    package = json.loads((APP / "package.json").read_text(encoding="utf-8"))
    versions = {**package["dependencies"], **package["devDependencies"]}
    assert [name for name, version in versions.items() if not version[0].isdigit()] == []
    lock = json.loads((APP / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, each in lock["packages"].items() if "resolved" in each] == []


def test_licenses_name_the_bundled_packages_with_their_versions() -> None:
    package = json.loads((APP / "package.json").read_text(encoding="utf-8"))
    licenses = (APP / "dist" / "LICENSES.txt").read_text(encoding="utf-8")
    lacking = [
        f"{name} {version}"
        for name, version in package["dependencies"].items()
        if f"{name} {version} (" not in licenses
    ]
    assert lacking == []
