"""Every benchmark, one after the other; `python -m bench player` runs one.

The peers it compares with are installed beside the environment, never into it.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PEERS = HERE.parent / ".venv" / "peers"
ALL = (
    "metrics_text",
    "responses",
    "memories_bm25",
    "memories_growth",
    "memories_encoder",
    "ledger_replay",
    "overhead",
    "player",
    "evaluation",
    "trajectories",
    "checkpoints",
    "leaderboard",
    "up_to_date",
    "event_log",
)


def peers() -> Path:
    """The folder of the peers' packages, installed on the first call."""
    lock = HERE / "peers.lock"
    done = PEERS / ".installed"
    if not done.is_file() or done.read_text() != lock.read_text():
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "-q", "--python", sys.executable]
        # Without what they depend on: numpy beside the environment would stand before the environment's own.
        only = ["--no-deps", "--require-hashes", "-r", str(lock)]
        subprocess.run([*uv, "--target", str(PEERS), *only], check=True)
        done.write_text(lock.read_text())
    return PEERS


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; the number of those that missed their bound."""
    path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", ""), str(peers())])
    missed = 0
    for name in names or ALL:
        ended = subprocess.run(
            [sys.executable, "-m", f"bench.{name}"], check=False, env={**os.environ, "PYTHONPATH": path}
        )
        missed += ended.returncode != 0
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
