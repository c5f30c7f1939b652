"""Pictures of the report: `make pictures` writes docs/img/report_PAGE_SCHEME_WIDTH.png with a headless Chromium.

They show the report that ships as an example. To add a picture, add its page to PAGES.
"""

import io
import shutil
import tempfile
import time
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from memflow.resources.report.example import write_example

PAGES = {
    "leaderboard": "leaderboard?domain=amemgym_demo",
    "compare": "compare?domain=amemgym_demo&a=full&b=recent",
    "probe": "probe?domain=amemgym_demo&probe=nora/p1/q0&assistant=recent",
    "memory": "memory?domain=amemgym_demo&assistant=recent",
}
"""The fragment of the page's address by picture."""
SIZES = ((1400, 900), (400, 800))
SCHEMES = ("light", "dark")
FOLDER = Path(__file__).with_name("img")
READY = "return document.querySelector('main h1') && !document.querySelector('.loading')"
COLORS = 64
"""Colors of a picture, which keep its file small."""
PATIENCE = 30
DRAWN = 0.5
"""Seconds until charts are drawn."""


def browser() -> Chrome:
    """Return a headless Chromium. Raises WebDriverException without one."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for option in ("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(option)
    return Chrome(options=options, service=Service(shutil.which("chromedriver")))


def main() -> None:
    """Write all pictures."""
    driver = browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            write_example(Path(folder))
            for scheme in SCHEMES:
                driver.execute_cdp_cmd(
                    "Emulation.setEmulatedMedia",
                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
                )
                for width, height in SIZES:
                    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
                    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                    for name, fragment in PAGES.items():
                        driver.get("about:blank")
                        driver.get(f"{(Path(folder) / 'index.html').as_uri()}#/{fragment}")
                        WebDriverWait(driver, PATIENCE).until(lambda page: page.execute_script(READY))
                        time.sleep(DRAWN)
                        picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
                        file = FOLDER / f"report_{name}_{scheme}_{width}.png"
                        picture.quantize(COLORS).save(file, optimize=True)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
