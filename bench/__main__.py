"""Run all or the named benchmarks: `python -m bench player`. Peer programs are installed into a separate folder."""

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
    "ledger",
    "overhead",
    "player",
    "evaluation",
    "probes",
    "fleet",
    "trajectories",
    "checkpoints",
    "leaderboard",
    "comparison",
    "gate",
    "intervals",
    "publish",
    "up_to_date",
    "users",
    "episode",
    "index",
)


def peers() -> Path:
    """Return the folder of the packages that memflow is compared with; install the packages on the first call."""
    lock = HERE / "peers.lock"
    done = PEERS / ".installed"
    if not done.is_file() or done.read_text() != lock.read_text():
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "-q", "--python", sys.executable]
        # Without dependencies: another numpy would shadow the environment's.
        only = ["--no-deps", "--require-hashes", "-r", str(lock)]
        subprocess.run([*uv, "--target", str(PEERS), *only], check=True)
        done.write_text(lock.read_text())
    return PEERS


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all. Return the number of benchmarks that failed or exceeded a limit."""
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
