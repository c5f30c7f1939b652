"""Browser tests: a home with the demo, `memflow dev`, and a headless Chromium."""

import io
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait
from served import ROOT, Served, served
from stub import stub_process
from typer.testing import CliRunner

from memflow.cli import app
from memflow.resources.settings.settings import Settings

PATIENCE = 30
LOST = (StaleElementReferenceException,)
"""The page was redrawn between finding an element and looking at it."""

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


class Page:
    """A browser page on the UI. Elements are found by their visible text."""

    def __init__(self, driver: Chrome, url: str) -> None:
        self.driver = driver
        self.url = url
        self._pictures = os.environ.get("MEMFLOW_SCREENSHOTS")

    def open(self, path: str, width: int = 1500, height: int = 1000) -> None:
        """Open a page in a window of the given size (CSS pixels)."""
        self.driver.set_window_size(width, height)
        self.driver.get(self.url + path)

    def reads(self, *texts: str) -> None:
        """Wait until all these texts are visible on the page."""

        def lacking() -> list[str]:
            shown = self.driver.find_element(By.TAG_NAME, "body").text
            return [text for text in texts if text not in shown]

        try:
            WebDriverWait(self.driver, PATIENCE, ignored_exceptions=LOST).until(lambda _: not lacking())
        except TimeoutException as wrong:
            shown = self.driver.find_element(By.TAG_NAME, "body").text
            raise AssertionError(
                f"{lacking()} cannot be read on {self.driver.current_url}:\n{shown}"
            ) from wrong

    def find(self, path: str) -> WebElement:
        """Wait for a visible element at the XPath and return it."""

        def seen(driver: Chrome) -> WebElement | None:
            return next((each for each in driver.find_elements(By.XPATH, path) if each.is_displayed()), None)

        try:
            return WebDriverWait(self.driver, PATIENCE, ignored_exceptions=LOST).until(seen)
        except TimeoutException as wrong:
            shown = self.driver.find_element(By.TAG_NAME, "body").text
            raise AssertionError(f"{path} is not on {self.driver.current_url}:\n{shown}") from wrong

    def press(self, button: str) -> None:
        """Press the button with this label when it is enabled."""
        self.find(f"//button[contains(., {_quoted(button)}) and not(@disabled)]").click()

    def show_markdown(self) -> None:
        """Show the page's Markdown metadata. The UI shows a short text at once, and a long one after a click."""
        short, long = "//*[text()='preview']/following::table", "//*[contains(text(), 'Show Markdown')]"
        found = self.find(f"{long} | {short}")
        if "Show Markdown" in found.text:
            found.click()

    def picture(self, name: str, box: tuple[int, int, int, int] | None = None, pause: int = 0) -> None:
        """Save a screenshot, or the part in a box (left, top, right, bottom), if MEMFLOW_SCREENSHOTS names a folder."""
        if self._pictures:
            time.sleep(pause)
            folder = ROOT / self._pictures
            folder.mkdir(parents=True, exist_ok=True)
            screenshot = Image.open(io.BytesIO(self.driver.get_screenshot_as_png()))
            screenshot.crop(box).save(folder / f"{name}.png")


SLOW = "none@slow"
"""An assistant whose model takes a second for each answer, so that its run can be watched."""


CHANGED = "window"
"""An assistant that is evaluated several times, each time with another number of messages."""


@pytest.fixture(scope="module")
def settings_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the settings of a home with the demo: complete for screenshots, else with few memories."""
    folder = tmp_path_factory.mktemp("ui")
    settings = folder / "memflow.toml"
    changed = ["--memory", CHANGED, "--no-baselines"]
    runs = [(2, changed), (12, [*changed, "--memory", "bm25_message"])]
    if "MEMFLOW_SCREENSHOTS" in os.environ:
        runs = [(2, changed), (6, changed), (12, changed), (12, [])]
    hidden = dict.fromkeys(name for name in os.environ if name.startswith(("MEMFLOW_", "DAGSTER_")))
    with stub_process(latency=1.0) as url:
        for messages, memories in runs:
            settings.write_text(
                f"home = {json.dumps(str(folder / 'home'))}\ndomains = ['amemgym_demo', 'memorybench_demo']\n"
                f"assistants = {json.dumps([*Settings().assistants, CHANGED, SLOW])}\n"
                f"[memories.{CHANGED}]\nsystem = 'recent'\nparameters = {{messages = {messages}}}\n"
                f"[models.slow]\nkind = 'endpoint'\nurl = '{url}'\nmodel = 'stub'\nconcurrency = 4\n"
            )
            ended = CliRunner().invoke(
                app, ["--settings", str(settings), "run", "--demo", *memories], env=hidden
            )
            assert ended.exit_code == 0, ended.output
        yield settings


@pytest.fixture(scope="module")
def ui(settings_file: Path) -> Iterator[Served]:
    """Return `memflow dev` on the home with the demo."""
    with served(settings_file) as dev:
        yield dev


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Chrome]]:
    """Return a function that starts a headless Chromium without stored data. Skip without Chromium, except in CI."""
    programs = [shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")]
    if None in programs:
        if os.environ.get("CI") == "true":
            pytest.fail(
                "CI has neither Chromium nor chromedriver: install the packages chromium and chromium-driver"
            )
        pytest.skip("needs Chromium and chromedriver (Debian: apt install chromium chromium-driver)")
    program, driver = programs
    started: list[Chrome] = []

    def start() -> Chrome:
        options = ChromeOptions()
        options.binary_location = str(program)
        for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
            options.add_argument(option)
        started.append(Chrome(options=options, service=Service(str(driver))))
        return started[-1]

    yield start
    for each in started:
        each.quit()


@pytest.fixture(scope="module")
def page(ui: Served, chromium: Callable[[], Chrome]) -> Page:
    """Return a browser on the UI."""
    return Page(chromium(), ui.url)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
