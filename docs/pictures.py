"""The pictures of the documentation that are drawn from the demo: terminal (SVG) and report (PNG).

`python docs/pictures.py` writes docs/img/terminal_NAME_80.svg and docs/img/report_NAME_light_1400.png. With `--check`
it draws them again and fails if one differs from the file. The pictures of the Dagster UI, which show times, are saved
by tests/browser (`make pictures`) and are not compared.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image, ImageChops
from rich.console import Console
from rich.text import Text
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

FOLDER = Path(__file__).with_name("img")
WIDTH = 80
"""Columns of the terminal."""
TERMINAL = {
    "leaderboard": (
        *("show", "leaderboard", "--domain", "amemgym_demo"),
        *("--metric", "accuracy", "--metric", "memory_score", "--metric", "random"),
    ),
    "compare": ("compare", "full", "recent", "--domain", "amemgym_demo"),
}
"""The arguments of `memflow` by picture, in a home with the demo."""
REPORT = {"leaderboard": "leaderboard?domain=amemgym_demo"}
"""The fragment of the page's address in the report by picture."""
SIZE = {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
READY = "return document.querySelector('main h1') && !document.querySelector('.loading')"
COLORS, PATIENCE_S, DRAWN_S = 64, 30, 0.5
"""Colors of a picture, which keep its file small; seconds until a page is loaded, and until its charts are drawn."""
TOLERANCE = 0.01
"""The share of pixels that may differ, as the edges of letters do between versions of Chromium."""


def terminal_pictures(folder: Path, home: Path) -> None:
    """Run the demo, and write what the commands print with colors as SVG without references to the network."""
    run(home, "run", "--demo")
    for name, arguments in TERMINAL.items():
        console = Console(record=True, width=WIDTH, file=io.StringIO())
        console.print(Text.from_ansi(run(home, *arguments).strip("\n")), soft_wrap=True)
        svg = console.export_svg(title=f"memflow {arguments[0]} {arguments[1]}", unique_id="memflow")
        text = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
        (folder / f"terminal_{name}_{WIDTH}.svg").write_text(text, encoding="utf-8")


def run(home: Path, *arguments: str) -> str:
    """Return what a command prints on standard output in a terminal."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("MEMFLOW_")}
    return subprocess.run(
        [sys.executable, "-m", "memflow.cli", "--home", str(home), *arguments],
        env={**mine, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def report_pictures(folder: Path, home: Path, report: Path) -> None:
    """Write a report of the demo, and screenshots of it. Raises WebDriverException without Chromium."""
    run(home, "report", str(report))
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for option in ("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(option)
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
        for name, fragment in REPORT.items():
            driver.get(f"{(report / 'index.html').as_uri()}#/{fragment}")
            WebDriverWait(driver, PATIENCE_S).until(lambda page: page.execute_script(READY))
            time.sleep(DRAWN_S)
            picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
            picture.quantize(COLORS).save(folder / f"report_{name}_light_{SIZE['width']}.png", optimize=True)
    finally:
        driver.quit()


def differs(path: Path, drawn: Path) -> bool:
    """Return whether a picture differs from the one that was drawn again."""
    if not path.is_file() or path.suffix == ".svg":
        return not path.is_file() or path.read_bytes() != drawn.read_bytes()
    before, after = (Image.open(file).convert("L") for file in (path, drawn))
    if before.size != after.size:
        return True
    changed = sum(ImageChops.difference(before, after).histogram()[32:])
    return changed > TOLERANCE * before.width * before.height


def main(check: bool) -> None:
    """Write the pictures, or exit with the names of those that are stale."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "img" if check else FOLDER
        folder.mkdir(exist_ok=True)
        # The output of a command may name the home.
        home = Path(tempfile.gettempdir()) / "memflow-demo"
        shutil.rmtree(home, ignore_errors=True)
        terminal_pictures(folder, home)
        report_pictures(folder, home, Path(temporary) / "report")
        stale = [
            drawn.name for drawn in sorted(folder.iterdir()) if check and differs(FOLDER / drawn.name, drawn)
        ]
    if stale:
        sys.exit(f"stale pictures in {FOLDER}: {', '.join(stale)}. Run `make pictures`, and look at them.")


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
