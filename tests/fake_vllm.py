"""A `vllm` program whose server is the stub, run as a worker of its own as vLLM's engines are."""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parent
SCRIPT = """\
#!/bin/sh
echo "$$ ${{CUDA_VISIBLE_DEVICES-}} $*" >> {folder}/starts
number=$(wc -l < {folder}/starts)
{first}
while [ $# -gt 0 ]; do [ "$1" = --port ] && port=$2; shift; done
PYTHONPATH={path} {python} -m stub --port $port --model {model} {options} &
echo $! >> {folder}/workers
echo "serving on port $port"
wait $!
"""


def fake_vllm(folder: Path, first: str = "", model: str = "tiny", options: str = "") -> str:
    """Write the program and return its path. `first` are lines that run first, with $number, the number of starts."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "vllm"
    path = os.pathsep.join((str(TESTS), str(TESTS.parent)))
    text = SCRIPT.format(
        folder=folder, path=path, python=sys.executable, first=first, model=model, options=options
    )
    program.write_text(text)
    program.chmod(0o755)
    return str(program)


def starts(folder: Path) -> list[list[str]]:
    """Return the words of each start: process id, CUDA_VISIBLE_DEVICES and arguments."""
    path = folder / "starts"
    return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []


def workers(folder: Path) -> list[int]:
    """Return the process ids of the stub servers."""
    path = folder / "workers"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def is_alive(process: int) -> bool:
    """Return whether a stub server runs under this process id."""
    try:
        os.kill(process, 0)
        words = Path(f"/proc/{process}/cmdline").read_bytes()
        state = Path(f"/proc/{process}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
    return b"stub" in words and state.rpartition(")")[2].split()[0] != "Z"
