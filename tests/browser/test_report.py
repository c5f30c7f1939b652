"""The report's leaderboard, comparison, drift and history in Chromium, from files and over http."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import report_files
from front_end import front_end
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

__all__ = ["front_end"]

pytestmark = pytest.mark.browser

DOMAIN = "amemgym_demo"
PATIENCE = 10
PAGES = (
    "leaderboard",
    f"leaderboard?domain={DOMAIN}",
    f"compare?domain={DOMAIN}",
    f"compare?domain={DOMAIN}&a=full&b=recent",
    "drift",
    f"history?domain={DOMAIN}",
    f"health?domain={DOMAIN}",
)


class Report:
    """A browser on a report."""

    def __init__(self, driver: Chrome, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, fragment: str, *texts: str) -> None:
        """Load the page of a fragment and wait until it shows the texts."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#/{fragment}")
        self.wait(*texts)

    def wait(self, *texts: str) -> None:
        """Wait until the page is loaded and shows the texts."""

        def ready(_: Chrome) -> bool:
            shown = self.text()
            return bool(shown) and "Loading…" not in shown and all(text in shown for text in texts)

        WebDriverWait(self.driver, PATIENCE).until(ready, f"{texts} are not on {self.driver.current_url}")

    def text(self) -> str:
        """Return the visible text of the page's content."""
        return str(self.run("return document.querySelector('main')?.innerText ?? ''"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript and return its value."""
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str) -> None:
        """Wait until a JavaScript returns true."""
        WebDriverWait(self.driver, PATIENCE).until(lambda _: self.run(script), script)

    def rows(self, caption: str) -> list[list[str]]:
        """Return the visible cells of the table whose caption begins so."""
        return list(
            self.run(
                """const found = [...document.querySelectorAll("table")]
                     .find((each) => each.caption.textContent.startsWith(arguments[0]));
                   const visible = (cell) => {
                     const copy = cell.cloneNode(true);
                     copy.querySelectorAll(".visually-hidden, .note, small, svg").forEach((each) => each.remove());
                     return copy.textContent.trim();
                   };
                   return [...found.querySelectorAll("tbody tr")].map((row) => [...row.cells].map(visible));""",
                caption,
            )
        )

    def choose(self, label: str, value: str) -> None:
        """Choose a value in the list with this label."""
        options = self.driver.find_elements(By.XPATH, f"//label[span[.='{label}']]/select//option")
        next(each for each in options if each.get_property("value") == value).click()
        self.wait()

    def press(self, button: str) -> None:
        """Press a button of a table's head."""
        self.driver.find_element(
            By.XPATH, f"//thead//button[starts-with(normalize-space(), '{button}')]"
        ).click()

    def fragment(self) -> str:
        """Return the fragment of the URL."""
        return str(self.run("return location.hash"))

    def problems(self) -> list[str]:
        """Return errors of the console and addresses outside of the report from which something was loaded."""
        logged = [each["message"] for each in self.driver.get_log("browser")]
        loaded = self.run("return performance.getEntriesByType('resource').map((each) => each.name)")
        folder = self.address.rpartition("/")[0]
        return logged + [each for each in loaded if not each.startswith((folder, "data:"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a report."""
    return report_files.write_report(tmp_path_factory.mktemp("report")).parent


@pytest.fixture(scope="module")
def driver(chromium: Callable[[], Chrome]) -> Chrome:
    """Return a browser for all tests of this module."""
    return chromium()


@pytest.fixture
def report(driver: Chrome, folder: Path) -> Iterator[Report]:
    """Return a browser on the report's folder. Afterwards nothing failed or was loaded from elsewhere."""
    found = Report(driver, (folder / "index.html").as_uri())
    driver.set_window_size(1400, 1000)
    yield found
    assert found.problems() == []


@pytest.fixture(scope="module")
def http_address(folder: Path) -> Iterator[str]:
    """Return the address of the report on a plain web server."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
    server.shutdown()
    server.server_close()


def percent(value: float) -> str:
    """Return a share as the pages write it."""
    return f"{value * 100:.1f}"


def signed(value: float) -> str:
    """Return a difference as the pages write it."""
    text = f"{abs(value) * 100:.1f}"
    return text if text == "0.0" else ("+" if value > 0 else "−") + text


def expected_scores(slice_name: str = "all") -> dict[str, str]:
    """Return the accuracy of each assistant as the leaderboard writes it."""
    rows = report_files.score_rows(DOMAIN, report_files.domain_verdicts(DOMAIN), True)
    return {
        row["assistant"]: percent(row["value"])
        for row in rows
        if row["metric"] == "accuracy" and row["slice"] == slice_name
    }


def shown_scores(report: Report) -> dict[str, str]:
    """Return the accuracy of each assistant on the leaderboard, in its order."""
    rows = [row for row in report.rows("Accuracy on ") if len(row) > 3]
    return {row[-8].split()[0]: row[-6] for row in rows}


@pytest.mark.parametrize("form", ["file", "http"])
def test_leaderboard_shows_the_scores_in_every_form_of_the_report(
    driver: Chrome, folder: Path, http_address: str, form: str
) -> None:
    addresses = {"file": (folder / "index.html").as_uri(), "http": http_address}
    report = Report(driver, addresses[form])
    report.open(f"leaderboard?domain={DOMAIN}", "Accuracy by period")
    assert shown_scores(report) == expected_scores()
    assert report.problems() == []


def test_leaderboard_is_ordered_by_score_with_baselines_apart(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}")
    names, scores = zip(*shown_scores(report).items(), strict=True)
    systems = [float(each) for each in scores[:-2]]
    assert systems == sorted(systems, reverse=True)
    assert set(names[-2:]) == {"none", "oracle"}
    assert ["Baselines"] in report.rows("Accuracy on ")


def test_leaderboard_labels_what_limits_a_score(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}")
    names = {row[1].split()[0]: row[1] for row in report.rows("Accuracy on ") if len(row) > 3}
    assert "incomplete" in names["recent"]
    assert "settings differ" in names["rag_2_4_30"]
    assert report.rows("Accuracy on ")[5][5] == "59 / 60"
    report.open(f"leaderboard?domain={DOMAIN}~1", "sample of 1 of 12 users")
    assert "scripted chat" in report.run("return document.querySelector('header').innerText")


def test_suspect_memory_has_a_badge_beside_its_scores(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}")
    names = {row[1].split()[0]: row[1] for row in report.rows("Accuracy on ") if len(row) > 3}
    assert [name for name, text in names.items() if "suspect" in text] == [report_files.SUSPECT]
    report.open(f"compare?domain={DOMAIN}")
    rows = {row[0].split()[0]: row[0] for row in report.rows("Paired differences")}
    assert [name for name, text in rows.items() if "suspect" in text] == [report_files.SUSPECT]
    report.open("leaderboard", "suspect")


def test_health_page_states_each_measure_and_links_to_probes(report: Report) -> None:
    report.open("health", report_files.STATEMENT)
    first = report.rows("The state of each measure")[0]
    assert first == [report_files.SUSPECT, "suspect", "–"]
    worst = report.rows("2 measures of ")[0]
    assert worst[:4] == ["failed reads", "suspect", report_files.STATEMENT, "12 / 60"]
    assert "entry <b>1</b>" in worst[4]
    link = report.driver.find_element(By.LINK_TEXT, "p001")
    assert "probe=p001" in link.get_attribute("href")
    assert report.problems() == []


def test_headroom_of_a_domain_has_the_recall_of_each_ranking_and_what_it_says(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}", "Retrieval headroom")
    [row] = report.rows("Recall of evidence by ranking")
    assert row[:4] == ["full", "0", "0", "0.500"]
    report.open(f"leaderboard?domain={DOMAIN}", "It cannot be told whether another search is better")


def test_a_column_sorts_both_ways_and_the_address_keeps_the_order(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}")
    for direction in ("ascending", "descending"):
        report.press("Tokens")
        report.until(
            f"return document.querySelector('th[aria-sort={direction}]')?.innerText.startsWith('Tokens')"
        )
        values = [float(row[6].replace(",", "")) for row in report.rows("Accuracy on ")[:6]]
        assert values == sorted(values, reverse=direction == "descending")
    order = list(shown_scores(report))
    report.driver.refresh()
    report.wait("Baselines")
    assert list(shown_scores(report)) == order


def test_a_slice_is_in_the_address_and_back_returns_to_all(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}")
    report.choose("Slice", "period 2")
    assert shown_scores(report) == expected_scores("period 2")
    assert "slice=period+2" in report.fragment()
    report.driver.back()
    report.wait()
    assert shown_scores(report) == expected_scores()


def test_a_deep_link_restores_domain_metric_slice_and_order(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}&metric=accuracy&slice=period+3&sort=assistant")
    assert shown_scores(report) == expected_scores("period 3")
    systems = list(shown_scores(report))[:-2]
    assert systems == sorted(systems)
    chosen = report.run("return [...document.querySelectorAll('select')].map((each) => each.value)")
    assert chosen == [DOMAIN, "accuracy", "period 3"]


def test_overview_has_every_domain_and_links_to_probes(report: Report) -> None:
    report.open("leaderboard")
    table = {row[0]: row[1:] for row in report.rows("Score of the primary metric")}
    assert {name: cells[0] for name, cells in table.items()} == expected_scores()
    cell = report.driver.find_element(By.XPATH, "//tr[th[.='full']]/td[1]/a")
    link = str(cell.get_attribute("href"))
    assert link.endswith(f"#/probes?domain={DOMAIN}&assistant=full&metric=accuracy")


@pytest.mark.parametrize(
    ("fragment", "sentence"),
    [
        ("leaderboard?domain=removed", "This report has no domain removed."),
        ("compare?domain=removed", "This report has no domain removed."),
        (f"compare?domain={DOMAIN}&a=full&b=removed", "This domain has no comparison with removed."),
        ("drift?domain=removed", "This report has no domain removed."),
        ("history?domain=removed", "This report has no domain removed."),
        (f"leaderboard?domain={DOMAIN}&metric=removed", "This domain has no score of the metric removed"),
        ("removed", "This report has no page removed."),
    ],
)
def test_an_unknown_name_is_stated_with_a_link_back(report: Report, fragment: str, sentence: str) -> None:
    report.open(fragment, sentence)
    report.driver.find_element(By.CSS_SELECTOR, ".problem a").click()
    WebDriverWait(report.driver, PATIENCE).until(lambda _: sentence not in report.text())
    report.wait()
    assert report.rows("") != []


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda path: path.unlink(), "data/comparisons.js cannot be read"),
        (lambda path: path.write_text("memflow."), "data/comparisons.js is damaged"),
    ],
    ids=["missing", "damaged"],
)
def test_a_missing_or_damaged_file_is_stated(
    driver: Chrome, tmp_path: Path, damage: Callable[[Path], Any], sentence: str
) -> None:
    page = report_files.write_report(tmp_path / "report")
    damage(page.parent / "data" / "comparisons.js")
    report = Report(driver, page.as_uri())
    report.open("compare", sentence)
    report.open(f"leaderboard?domain={DOMAIN}")
    assert shown_scores(report) == expected_scores()
    driver.get_log("browser")


@pytest.mark.parametrize("baseline", ["none", "full"])
def test_differences_are_the_other_minus_the_baseline(report: Report, baseline: str) -> None:
    report.open(f"compare?domain={DOMAIN}&a={baseline}")
    expected = {}
    for row in report_files.comparison_rows(DOMAIN, report_files.domain_verdicts(DOMAIN)):
        if row["slice"] == "all" and baseline in (row["a"], row["b"]):
            sign = 1 if row["b"] == baseline else -1
            other = row["a"] if row["b"] == baseline else row["b"]
            ends = sorted([sign * row["low"], sign * row["high"]])
            name = f"{other} suspect" if other == report_files.SUSPECT else other
            expected[name] = [signed(sign * row["difference"]), " to ".join(map(signed, ends))]
    shown = {row[0]: [row[2], row[4]] for row in report.rows("Paired differences")}
    assert shown == expected


@pytest.mark.parametrize(("episodes", "few"), [(3, True), (9, True), (12, False)])
def test_a_comparison_says_why_an_interval_without_0_is_no_clear_difference(
    driver: Chrome, tmp_path: Path, episodes: int, few: bool
) -> None:
    files = report_files.data_files()
    rows = report_files.comparison_rows(DOMAIN, report_files.domain_verdicts(DOMAIN))
    open_ones = [row | {"better": None, "p_adjusted": 0.25, "n_episodes": episodes} for row in rows]
    files["comparisons"] = report_files.table(open_ones)
    report = Report(driver, report_files.write_files(tmp_path / "report", files).as_uri())
    report.open(
        f"compare?domain={DOMAIN}&a=none&b=full",
        "cannot be told apart",
        "the adjusted p allows for all pairs",
    )
    reason = f"cannot be significant with {episodes} episodes and {report_files.COMPARISONS} comparisons"
    assert (reason in report.text()) == few
    assert ("cannot be significant" in report.text()) == few
    report.open(f"compare?domain={DOMAIN}&a=none", "the adjusted p allows for all pairs")


def test_comparing_two_lists_the_probes_that_differ(report: Report) -> None:
    report.open(f"compare?domain={DOMAIN}&a=full&b=recent", "recent is better:")
    values = {(row["assistant"], row["probe"]): row["value"] for row in report_files.domain_verdicts(DOMAIN)}
    probes = [f"p{number:03}" for number in range(report_files.PROBES)]
    pairs = [(values["full", each], values["recent", each]) for each in probes]
    worse = sum((a, b) == (1.0, 0.0) for a, b in pairs)
    better = sum((a, b) == (0.0, 1.0) for a, b in pairs)
    assert len(report.rows("recent is worse")) == worse
    assert len(report.rows("recent is better")) == better
    link = report.driver.find_element(By.CSS_SELECTOR, "td.question a, th.question a").get_attribute("href")
    assert f"#/probe?domain={DOMAIN}&probe=p0" in str(link)


def test_assistants_of_a_comparison_are_chosen_by_boxes(report: Report) -> None:
    report.open(f"compare?domain={DOMAIN}&a=none&b=full&b=oracle")
    assert [row[0] for row in report.rows("Paired differences")] == ["oracle", "full"]
    report.driver.find_element(By.CSS_SELECTOR, ".choices summary").click()
    report.driver.find_element(By.XPATH, "//details[@class='choices']//label[span='recent']/input").click()
    WebDriverWait(report.driver, PATIENCE).until(lambda _: len(report.rows("Paired differences")) == 3)
    assert report.fragment().endswith("a=none&b=full&b=oracle&b=recent")


def test_drift_names_what_moved_and_the_stage_behind_it(report: Report) -> None:
    report.open("drift", "Accuracy of full fell from 71.0 to 58.0 %, by 13.0 points")
    assert "Most of it, −11.0 points, comes from changed users." in report.text()
    assert "1 other score stayed within noise." in report.text()
    row = report.rows("Scores before and after")[0]
    assert row[-3:] == ["−11.0", "−3.0", "+1.0"]


def test_history_has_every_publication(report: Report) -> None:
    report.open(f"history?domain={DOMAIN}")
    rows = [row for row in report.rows("24 published scores") if row[1] == "full"]
    last = float(expected_scores()["full"])
    assert [float(row[2]) for row in rows] == pytest.approx([last, last - 3, last - 6])


def test_hostile_text_stays_text(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}&slice=dataset+中文+<b>", "dataset 中文 <b>")
    assert report.run("return document.querySelectorAll('main b').length") == 0
    report.open(f"compare?domain={DOMAIN}&a=oracle&b=none", "none is worse")
    assert report_files.MALICIOUS.split(">")[0] in report.run("return document.body.textContent")
    assert report.run("return document.querySelectorAll('main img').length") == 0
    assert "taken" not in report.driver.title


def test_theme_follows_the_system_and_the_switch_overrides_it(report: Report) -> None:
    background = "return getComputedStyle(document.documentElement).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        report.open("leaderboard")
        seen[scheme] = report.run(background)
    assert seen["light"] != seen["dark"]
    report.driver.find_element(By.XPATH, "//fieldset//label[span='light']").click()
    WebDriverWait(report.driver, PATIENCE).until(lambda _: report.run(background) == seen["light"])
    report.driver.refresh()
    report.wait()
    assert report.run(background) == seen["light"]
    report.driver.find_element(By.XPATH, "//fieldset//label[span='auto']").click()
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("fragment", PAGES)
def test_a_narrow_page_does_not_scroll_sideways(report: Report, fragment: str) -> None:
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    report.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    report.open(fragment)
    widest = report.run("return document.documentElement.scrollWidth")
    report.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert widest <= 400


def test_print_leaves_out_navigation_and_uses_dark_text(report: Report) -> None:
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    report.open(f"leaderboard?domain={DOMAIN}")
    hidden = report.run("return getComputedStyle(document.querySelector('nav')).display")
    color = report.run("return getComputedStyle(document.documentElement).backgroundColor")
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert hidden == "none"
    assert color == "rgb(255, 255, 255)"


def test_keyboard_sorts_and_opens_explanations(report: Report) -> None:
    report.open(f"leaderboard?domain={DOMAIN}")
    button = report.driver.find_element(
        By.XPATH, "//thead//button[starts-with(normalize-space(), 'Assistant')]"
    )
    button.send_keys(Keys.ENTER)
    WebDriverWait(report.driver, PATIENCE).until(lambda _: "sort=assistant" in report.fragment())
    term = report.driver.find_element(By.CSS_SELECTOR, ".lead .term")
    term.send_keys(Keys.ENTER)
    report.wait("Share of the probes whose answer is right.")
    ActionChains(report.driver).send_keys(Keys.ESCAPE).perform()
    WebDriverWait(report.driver, PATIENCE).until(
        lambda _: "Share of the probes whose answer" not in report.text()
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fragment", PAGES)
def test_axe_finds_nothing_serious(report: Report, front_end: Path, fragment: str, scheme: str) -> None:
    axe = (front_end / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    report.open(fragment)
    report.run(axe)
    found = report.driver.execute_async_script(
        "axe.run({preload: false}).then(arguments[arguments.length - 1])"
    )["violations"]
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [
        (each["id"], each["nodes"][0]["html"], each["nodes"][0]["failureSummary"]) for each in serious
    ] == []
