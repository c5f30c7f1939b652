"""The terminal pictures of the documentation: `make pictures` writes docs/img/terminal_NAME_WIDTH.svg.

Each picture is the real output of a command in a home with the demo. To add a picture, add its command to PICTURES.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTHS = (80, 140)
"""Columns of the terminal."""
PICTURES = {
    "run": ("run", "--demo"),
    "leaderboard": (
        *("show", "leaderboard", "--domain", "amemgym_demo"),
        *("--metric", "accuracy", "--metric", "memory_score", "--metric", "random"),
    ),
    "compare": ("compare", "full", "recent", "--domain", "amemgym_demo"),
}
"""The arguments of `memflow` by picture."""
FOLDER = Path(__file__).with_name("img")


def output(home: Path, width: int, *arguments: str) -> str:
    """Return what a command prints on standard output, with colors, in a terminal of `width` columns."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("MEMFLOW_")}
    return subprocess.run(
        [sys.executable, "-m", "memflow.cli", "--home", str(home), *arguments],
        env={**mine, "COLUMNS": str(width), "FORCE_COLOR": "1", "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def picture(text: str, title: str, width: int) -> str:
    """Return terminal output as SVG without references to the network."""
    console = Console(record=True, width=width, file=io.StringIO())
    console.print(Text.from_ansi(text.strip("\n")), soft_wrap=True)
    svg = console.export_svg(title=title, unique_id="memflow")
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def main() -> None:
    """Write all pictures. The first command runs the demo, whose results the other commands show."""
    FOLDER.mkdir(exist_ok=True)
    home = Path(tempfile.gettempdir()) / "memflow-demo"
    for width in WIDTHS:
        shutil.rmtree(home, ignore_errors=True)
        for name, arguments in PICTURES.items():
            text = output(home, width, *arguments)
            title = " ".join(("memflow", *(each for each in arguments[:3] if each != "--domain")))
            file = FOLDER / f"terminal_{name}_{width}.svg"
            file.write_text(picture(text, title, width), encoding="utf-8")


if __name__ == "__main__":
    main()
