"""The report's probes, memories, domains and runs in Chromium: filters, long dialogues, malicious texts, keyboard."""

import io
import json
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import report_episodes as data
from front_end import front_end
from report_files import compressed, write_files
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

__all__ = ["front_end"]

pytestmark = pytest.mark.browser

PATIENCE = 30
PAGES = {
    "probes": f"probes?domain={data.DOMAIN}",
    "probe": f"probe?domain={data.DOMAIN}&probe=p1&view=bm25&view=mem%3Cb%3E",
    "open probe": f"probe?domain={data.DOMAIN}&probe=p2&view=none",
    "memory": f"memory?domain={data.DOMAIN}&assistant=bm25",
    "difference": f"memory?domain={data.DOMAIN}&assistant=bm25&from=14000&at=16000",
    "domain": f"domain?domain={data.DOMAIN}",
    "run": f"run?domain={data.DOMAIN}&assistant=bm25",
}
OUTCOMES = {1.0: "right", 0.5: "partial", 0.0: "wrong", None: "none"}


class Pages:
    """A browser on a report."""

    def __init__(self, driver: Chrome, page: Path) -> None:
        self.driver = driver
        self.address = page.as_uri()

    def open(self, fragment: str) -> None:
        """Load the page of a fragment again and wait until its data are shown."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#/{fragment}")
        self.wait()

    def wait(self, script: str = "return true") -> Any:
        """Wait until nothing is being loaded and the script returns a true value, and return that."""
        ready = "return document.querySelector('main h1') && !document.querySelector('.loading')"
        return WebDriverWait(self.driver, PATIENCE).until(
            lambda _: self.run(ready) and self.run(script), f"{script} on {self.driver.current_url}"
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript and return its value."""
        return self.driver.execute_script(script, *arguments)

    def found(self) -> int:
        """Return the number of probes that the page states."""
        return int(
            self.run("return document.querySelector('.found strong').innerText").split()[0].replace(",", "")
        )

    def listed(self) -> list[str]:
        """Scroll through the list of probes and return their ids in order."""
        return list(
            self.driver.execute_async_script(
                """const done = arguments[0], list = document.querySelector(".windowed"), found = new Map();
                   const look = () => {
                     for (const row of list.querySelectorAll("[data-index]")) {
                       found.set(Number(row.dataset.index), row.querySelector("p code").textContent);
                     }
                     if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) {
                       return done([...found].sort((a, b) => a[0] - b[0]).map((each) => each[1]));
                     }
                     list.scrollTop += list.clientHeight / 2;
                     setTimeout(look, 60);
                   };
                   setTimeout(look, 60);"""
            )
        )

    def state(self) -> str:
        """Return the sentence that counts what is listed."""
        return " ".join(self.run("return document.querySelector('.found').innerText").split())

    def click(self, path: str) -> None:
        """Click the first element at an XPath."""
        self.wait(f"return document.evaluate({json.dumps(path)}, document).iterateNext()").click()
        self.wait()

    def press(self, *keys: str) -> None:
        """Press keys."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def errors(self) -> list[str]:
        """Return errors of the console."""
        log = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [each["message"] for each in log]


@pytest.fixture(scope="module")
def driver(chromium: Callable[[], Chrome]) -> Chrome:
    """Return a browser for all tests of this module."""
    return chromium()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a report with long dialogues and malicious texts."""
    return write_files(tmp_path_factory.mktemp("report"), data.data_files())


@pytest.fixture
def report(driver: Chrome, page: Path) -> Iterator[Pages]:
    """Return a browser on the report, and check afterwards that nothing was logged."""
    driver.set_window_size(1400, 1000)
    found = Pages(driver, page)
    yield found
    assert found.errors() == []


def matching(
    condition: Callable[[dict[str, Any]], bool], metric: str = "accuracy", variant: str = "standard"
) -> set[str]:
    """Return the probes with a verdict of a metric and variant that fulfills a condition."""
    rows = data.verdict_rows()
    return {
        row["probe"]
        for row in rows
        if row["metric"] == metric and row["variant"] == variant and condition(row)
    }


def differing() -> set[str]:
    values: dict[str, set[float]] = {}
    for row in data.verdict_rows():
        if row["metric"] == "accuracy" and row["variant"] == "standard" and row["value"] is not None:
            values.setdefault(row["probe"], set()).add(row["value"])
    return {probe for probe, found in values.items() if len(found) > 1}


EVERY = matching(lambda row: True)
PROBES = {row["probe"]: row for row in data.probe_rows()}
FILTERS = {
    "assistant=bm25&verdict=wrong": matching(lambda row: row["assistant"] == "bm25" and row["value"] == 0.0),
    "verdict=right&verdict=partial": matching(lambda row: row["value"] in (1.0, 0.5)),
    "verdict=none": matching(lambda row: row["value"] is None),
    "failure=read": matching(lambda row: row["failure"] == "read"),
    "checkpoint=1": {probe for probe in EVERY if PROBES[probe]["checkpoint"] == 1},
    "dataset=set+1": {probe for probe in EVERY if PROBES[probe]["dataset"] == "set 1"},
    "category=category+2": {probe for probe in EVERY if PROBES[probe]["category"] == "category 2"},
    "kind=open": {probe for probe in EVERY if PROBES[probe]["kind"] == "open"},
    "slice=odd+%3Cb%3E": {probe for probe in EVERY if 2 in PROBES[probe]["slices"]},
    "metric=error&assistant=none&verdict=right": matching(
        lambda row: row["assistant"] == "none" and row["value"] == 0.0, "error"
    ),
    "variant=judge_b": matching(lambda row: True, variant="judge_b"),
    "differ=yes": differing(),
    "text=GARDEN": {probe for probe in EVERY if "garden" in PROBES[probe]["question"]},
    "text=%E8%8A%B1%E5%9B%AD&kind=open": {
        probe for probe in EVERY if "花园" in PROBES[probe]["question"] and PROBES[probe]["kind"] == "open"
    },
}


@pytest.mark.parametrize("filters", FILTERS)
def test_filter_lists_the_probes_that_a_recomputation_finds(report: Pages, filters: str) -> None:
    report.open(f"probes?domain={data.DOMAIN}&{filters}")
    expected = FILTERS[filters]
    assert expected
    assert report.found() == len(expected)
    assert set(report.listed()) == expected


def test_facet_shows_how_many_probes_each_value_would_leave(report: Pages) -> None:
    report.open(f"probes?domain={data.DOMAIN}&verdict=wrong")
    for name in data.ASSISTANTS:
        tally = report.run(
            """const box = document.querySelector(`input[value="${arguments[0]}"]`);
               return box.closest("label").querySelector(".tally").textContent;""",
            name,
        )
        assert int(tally) == len(
            matching(lambda row, name=name: row["assistant"] == name and row["value"] == 0.0)
        )


def test_chosen_filter_is_in_the_address_and_the_back_button_takes_it_back(report: Pages) -> None:
    report.open(f"probes?domain={data.DOMAIN}")
    report.click("//fieldset[legend='Verdict']//input[@value='wrong']")
    assert "verdict=wrong" in report.driver.current_url
    assert report.found() == len(matching(lambda row: row["value"] == 0.0))
    report.driver.back()
    report.wait(f"return document.querySelector('.found strong').innerText.startsWith('{len(EVERY)} ')")


def test_probes_are_sorted_by_the_number_of_assistants_that_were_wrong(report: Pages) -> None:
    report.open(f"probes?domain={data.DOMAIN}&sort=-wrong")
    counts = {
        probe: sum(
            row["probe"] == probe and row["value"] == 0.0
            for row in data.verdict_rows()
            if row["metric"] == "accuracy" and row["variant"] == "standard"
        )
        for probe in EVERY
    }
    wrong = [counts[probe] for probe in report.listed()]
    assert wrong == sorted(wrong, reverse=True)


def test_probe_page_shows_gold_choice_evidence_recall_prompt_and_grounds(report: Pages) -> None:
    report.open(PAGES["probe"])
    text = report.run("return document.querySelector('main').innerText")
    for part in (
        "gold",
        "chosen by bm25",
        "Recalled, best first (40)",
        "Prompt as sent",
        "Grounds of the judge",
        "Thought tokens",
    ):
        assert part in text
    assert "5,000 characters left out" in report.run("return document.querySelector('main').textContent")
    assert report.run("return document.querySelectorAll('.prompt mark').length") >= 1
    stored = report.run(
        """const rows = [...document.querySelector(".answer table").tBodies[0].rows];
           return rows.map((row) => [...row.cells].slice(1).map((cell) => cell.innerText));"""
    )
    assert stored == [["no", "no"], ["no", "yes"], ["no", "no"]]
    assert report.run("return document.querySelector('.answer h3 + .reply').innerText").startswith(
        "很长的回答"
    )


def test_evidence_and_sources_scroll_the_dialogue_of_20000_messages(report: Pages) -> None:
    report.open(PAGES["probe"])
    assert report.run("return document.querySelectorAll('.message').length") < 100
    for number in (12_345, 50, 19_990):
        report.click(f"//ul[@class='evidence-list']//button[contains(., 'number {number}.')]")
        report.wait(f"return document.querySelector('.current [data-message$=\"/{number}\"].evidence')")
    report.click("//ol[@class='recalled']/li[1]//button")
    report.wait("return document.querySelector('.current [data-message$=\"/5000\"]')")
    report.click("//button[.='Next evidence']")
    report.wait("return document.querySelector('.current .evidence')")


def test_n_and_p_go_through_the_filtered_list(report: Pages) -> None:
    report.open(f"probe?domain={data.DOMAIN}&probe=p1&kind=choice&view=none")
    report.press("n")
    report.wait("return location.hash.includes('probe=p3')")
    report.press("p")
    report.wait("return location.hash.includes('probe=p1&')")


def test_arrow_keys_and_enter_open_a_probe_of_the_list(report: Pages) -> None:
    report.open(f"probes?domain={data.DOMAIN}")
    report.run("document.querySelector('.windowed').focus()")
    report.press(Keys.ARROW_DOWN)
    report.wait("return document.activeElement.closest('[data-index=\"0\"]')")
    report.press(Keys.ARROW_DOWN)
    report.wait("return document.activeElement.closest('[data-index=\"1\"]')")
    report.press(Keys.ENTER)
    report.wait("return location.hash.startsWith('#/probe?')")
    size = "return document.querySelector('.windowed li').getAttribute('aria-setsize')"
    assert report.wait(size) == str(data.MESSAGES)


def test_memory_shows_entries_at_a_moment_and_the_difference_of_two(report: Pages) -> None:
    report.open(f"memory?domain={data.DOMAIN}&assistant=bm25&at=100")
    assert report.state().startswith("100 entries of 10,000")
    report.open(PAGES["difference"])
    assert report.state().startswith("0 added, 5000 changed, 0 retired")
    assert report.run("return document.querySelectorAll('.diff ins').length") > 0
    report.run(
        """const slider = document.querySelector("input[type=range]");
           slider.value = 6667;
           slider.dispatchEvent(new Event("input", {bubbles: true}));"""
    )
    report.wait("return location.hash.includes('at=6667')")
    report.wait("return document.querySelector('.slider').innerText.includes('checkpoint 0')")
    report.open(f"memory?domain={data.DOMAIN}&assistant=bm25&at=15001&kind=summary&text=%E8%AE%B0%E5%BF%86")
    expected = sum(number % 3 == 0 and number % 2 == 0 for number in range(5000, 10_000))
    assert report.state().startswith(f"{expected:,} entries")


def test_domain_shows_states_checks_and_quarantined_rows(report: Pages) -> None:
    report.open(PAGES["domain"])
    text = report.run("return document.querySelector('main').textContent")
    for part in ("1 of 2 rules passed", "one user is missing", "Rows with an error", "weekends", "MIT"):
        assert part in text
    assert report.run("return document.querySelectorAll('.timeline .value').length") == 2


def test_run_shows_settings_that_differ_models_and_usage(report: Pages) -> None:
    report.open(PAGES["run"])
    text = report.run("return document.querySelector('main').textContent")
    for part in ("embedder", "hashing", "0a1b", "c0ffee", "900"):
        assert part in text


@pytest.mark.parametrize("name", PAGES)
def test_malicious_texts_stay_texts_on_every_page(report: Pages, name: str) -> None:
    report.open(PAGES[name])
    shown = report.run("return document.querySelector('main').textContent")
    assert report.driver.title != "taken"
    assert report.run("return document.querySelectorAll('main img, main script').length") == 0
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(shown)
    assert "␛" in shown and "[RLO]" in shown


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("name", PAGES)
def test_page_needs_no_sideways_scrolling(report: Pages, name: str, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    report.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    report.open(PAGES[name])
    wide = report.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    report.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 0


@pytest.mark.parametrize(
    "fragment",
    [
        "probes?domain=x",
        "probe?domain=x&probe=y",
        f"probe?domain={data.DOMAIN}&probe=y",
        "memory?domain=x",
        "domain?domain=x",
        "run?domain=x",
    ],
)
def test_unknown_name_in_the_address_is_reported_with_a_link(report: Pages, fragment: str) -> None:
    report.driver.get("about:blank")
    report.driver.get(f"{report.address}#/{fragment}")
    WebDriverWait(report.driver, PATIENCE).until(
        lambda driver: driver.find_elements(By.CSS_SELECTOR, ".problem a")
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(report: Pages, front_end: Path, name: str, scheme: str) -> None:
    axe = (front_end / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    report.open(PAGES[name])
    report.run(axe)
    script = "axe.run({preload: false}).then(arguments[arguments.length - 1])"
    found = report.driver.execute_async_script(script)["violations"]
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in serious] == []


def test_filters_equal_a_plain_recomputation_over_random_verdicts(front_end: Path) -> None:
    tests = subprocess.run(
        ["npm", "test"], cwd=front_end, capture_output=True, text=True, timeout=120, check=False
    )
    assert tests.returncode == 0, tests.stdout


MILLION = {"assistants": 25, "probes": 40_000}


def million(folder: Path) -> Path:
    """Write a report whose domain has 1,000,000 verdicts."""
    names, n = [f"assistant {i}" for i in range(MILLION["assistants"])], MILLION["probes"]
    files = data.data_files()
    files["site"]["domains"][0]["assistants"] = names
    columns = [each for each in data.probe_rows()[0]]
    sample = data.probe_rows()[0]
    rows = [
        [
            {**sample, "probe": f"p{i}", "question": f"question {i}", "checkpoint": i % 9, "evidence": []}[c]
            for c in columns
        ]
        for i in range(n)
    ]
    files[f"probes/{data.DOMAIN}"] = compressed({"columns": columns, "rows": rows})
    probe = pa.array([f"p{i}" for i in range(n)])
    parts = []
    for order, name in enumerate(names):
        same = {
            "assistant": name,
            "episode": data.EPISODE,
            "dataset": "set 0",
            "category": "",
            "metric": "accuracy",
            "variant": "standard",
            "reason": "",
        }
        part = {key: pa.array([text] * n) for key, text in same.items()}
        part |= {"probe": probe, "value": pa.array([float((i * (order + 3)) % 7 > 2) for i in range(n)])}
        part |= {"failure": pa.array([["write", "read", "utilization", ""][i % 4] for i in range(n)])}
        part |= {"checkpoint": pa.array([i % 9 for i in range(n)], pa.int32()), "cut": pa.array([False] * n)}
        parts.append(pa.table(part))
    whole = pa.concat_tables(parts)
    whole = whole.cast(pa.schema([field.with_nullable(False) for field in whole.schema]))
    buffer = io.BytesIO()
    pq.write_table(
        whole, buffer, compression="zstd", row_group_size=2_000_000, dictionary_pagesize_limit=64 * 2**20
    )
    files[f"verdicts/{data.DOMAIN}"] = b64encode(buffer.getvalue()).decode()
    return write_files(folder, files)


def test_a_million_verdicts_open_and_filter(driver: Chrome, tmp_path: Path) -> None:
    report = Pages(driver, million(tmp_path))
    report.driver.set_window_size(1400, 1000)
    report.open(f"probes?domain={data.DOMAIN}")
    report.wait("return document.querySelector('.browse')")
    opened = report.run("return performance.now()")
    assert report.found() == MILLION["probes"]
    taken = []
    for filters, expected in {
        "verdict=wrong&assistant=assistant+4": sum((i * 7) % 7 <= 2 for i in range(MILLION["probes"])),
        "failure=read&checkpoint=1": sum(i % 4 == 1 and i % 9 == 1 for i in range(MILLION["probes"])),
        "text=question+1234": sum(
            f"question {i}".startswith("question 1234") for i in range(MILLION["probes"])
        ),
        "differ=yes&sort=-wrong": sum(i % 7 != 0 for i in range(MILLION["probes"])),
    }.items():
        report.run("location.hash = arguments[0]", f"#/probes?domain={data.DOMAIN}&{filters}")
        report.wait(f"return document.querySelector('.found strong')?.innerText.startsWith('{expected:,} ')")
        taken.append(float(report.run("return document.querySelector('.browse').dataset.filterMs")))
    print(f"opened in {opened:.0f} ms, filtered in {taken} ms")
    assert opened < 30_000 and max(taken) < 2_000
    assert report.errors() == []


def test_a_message_is_four_clicks_from_the_leaderboard(driver: Chrome, page: Path) -> None:
    report = Pages(driver, page)
    report.open(f"leaderboard?domain={data.DOMAIN}")
    report.click("//main//tbody//a[contains(@href, '#/probes?')]")
    report.click("//article[contains(@class, 'probe-row')]/a")
    report.click("//ul[@class='evidence-list']//button")
    report.wait("return document.querySelector('.current .message.evidence')")
    assert report.errors() == []
