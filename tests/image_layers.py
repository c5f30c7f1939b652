"""Run the Dockerfile's commands in a fresh environment, without Docker: tests/image_layers.py [ARG=VALUE ...].

The image's file system is a temporary folder, and a new virtual environment is its Python. Commands that need root
(useradd, chown) only print what they would do. At the end the image's own programs run: `memflow --help` and
`dagster definitions validate`. The packages are downloaded, so no test does this.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
NEED_ROOT = ("useradd", "chown")
FOLDERS = ("/opt", "/var")
"""The folders of the image that are below the temporary folder."""
LAST = (
    "memflow --help",
    # The image's own instance is in PostgreSQL.
    'DAGSTER_HOME="$MEMFLOW_HOME" dagster definitions validate --module-name memflow.assets.definitions',
)
CLUSTER = "python -c 'import dagster_k8s, dagster_ray, ray'"


@dataclass(frozen=True)
class Instruction:
    """An instruction of a Dockerfile, such as RUN, and its text."""

    name: str
    text: str


def instructions(text: str) -> Iterator[Instruction]:
    """Yield the instructions of a Dockerfile, without comments and with continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield Instruction(name.upper(), rest.strip())


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the variables of ARG and ENV replaced."""
    return re.sub(r"\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?", lambda found: variables.get(found[1], found[0]), text)


class ImageLayers:
    """The layers of an image below a folder."""

    def __init__(self, folder: Path, arguments: Mapping[str, str]) -> None:
        self.folder = folder
        self.workdir = folder
        self.arguments = dict(arguments)
        self.variables: dict[str, str] = {}

    def inside(self, text: str) -> str:
        """Return a text in which the image's folders are below the temporary folder."""
        below = "|".join(map(re.escape, FOLDERS))
        return re.sub(rf"(?<![\w./])({below})(?=/|\b)", rf"{self.folder}\1", text)

    def apply(self, instruction: Instruction) -> None:
        """Execute one instruction. Raises CalledProcessError if its command fails."""
        text = substitute(instruction.text, self.variables | self.arguments)
        if instruction.name == "ENV":
            pairs = (pair.split("=", 1) for pair in shlex.split(text))
            self.variables |= {name: self.inside(value) for name, value in pairs}
        elif instruction.name == "ARG":
            name, _, default = text.partition("=")
            self.arguments.setdefault(name, default)
        elif instruction.name == "WORKDIR":
            self.workdir = Path(self.inside(text))
            self.workdir.mkdir(parents=True)
        elif instruction.name == "COPY":
            self.copy(*text.split())
        elif instruction.name == "RUN":
            self.run(self.inside(text))
        else:
            assert instruction.name in ("FROM", "USER", "EXPOSE", "CMD"), instruction

    def copy(self, *paths: str) -> None:
        """Copy files and folders of the repository as COPY does: the content of a folder goes into the target."""
        *sources, target = paths
        to = self.workdir / self.inside(target)
        for source in sources:
            path = ROOT / source
            if path.is_dir():
                shutil.copytree(
                    path, to, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                if len(sources) > 1 or target.endswith("/"):
                    to.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, to / path.name if to.is_dir() else to)

    def run(self, command: str) -> None:
        """Run a shell command in the image's folder, with the image's Python and variables."""
        programs = f"{self.folder}/bin:{self.folder}/venv/bin:{os.defpath}"
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(("PIP_", "SSL_", "http", "no_"))
        }
        environment = kept | self.variables | {"PATH": programs, "HOME": str(self.folder)}
        subprocess.run(["/bin/sh", "-ec", command], cwd=self.workdir, env=environment, check=True)

    def prepare(self) -> None:
        """Create the environment, and the programs that stand for those that need root."""
        subprocess.run([sys.executable, "-m", "venv", self.folder / "venv"], check=True)
        (self.folder / "bin").mkdir()
        for name in NEED_ROOT:
            program = self.folder / "bin" / name
            program.write_text(f'#!/bin/sh\necho "{name} $@"\n', encoding="utf-8")
            program.chmod(0o755)


def main() -> None:
    """Run all instructions, and print how long each took."""
    arguments = dict(argument.split("=", 1) for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="memflow-image-") as folder:
        layers = ImageLayers(Path(folder), arguments)
        layers.prepare()
        last = [*LAST, *([CLUSTER] if "cluster" in arguments.get("REQUIREMENTS", "") else [])]
        for instruction in [
            *instructions((ROOT / "Dockerfile").read_text(encoding="utf-8")),
            *(Instruction("RUN", command) for command in last),
        ]:
            began = time.monotonic()
            layers.apply(instruction)
            print(f"{time.monotonic() - began:6.1f} s  {instruction.name} {instruction.text}", flush=True)
        size = sum(path.lstat().st_size for path in Path(folder, "venv").rglob("*"))
        print(f"{size / 1e6:,.0f} MB of packages")


if __name__ == "__main__":
    main()
