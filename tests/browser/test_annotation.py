"""The annotation page in a real browser: keyboard, reload, saved files and texts that look like markup."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import ROOT, wait

from memflow.annotation.annotations import read_all, read_annotations
from memflow.annotation.page import page_of
from memflow.annotation.report import make_report
from memflow.annotation.sheet import (
    PAGE,
    Header,
    Item,
    Part,
    Sheet,
    Unit,
    make_sheet,
    read_key,
    read_sheet,
    write_sheet,
)
from memflow.benchmarks.amemgym.annotation import KINDS

pytestmark = pytest.mark.browser

CONFIG = KINDS["exposure"].config
MALICIOUS = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">{{sheet}}"
)
ENGLISH = (
    "Since the rota changed I only get to my allotment on Saturdays and Sundays, from morning till dusk."
)
CHINESE = "最近换了班次，平日里几乎抽不出空来，只有周末两天能整天待在菜园里。您看这个月该先种些什么才好？"


def item(name: str, variable: str, now: str, before: str, could_be: str) -> Item:
    facts = [(f"{variable} is now", now), ("was before", before), ("could be", could_be)]
    return Item(
        id=name,
        asks=CONFIG.asks,
        facts=[Part(title=title, text=text) for title, text in facts],
        labels=CONFIG.labels,
    )


def message(name: str, episode: str, text: str, language: str, *items: Item) -> Unit:
    shown = [Part(title="What the user writes", text=text)]
    return Unit(id=name, episode=episode, language=language, shown=shown, items=list(items))


TIME = ("whole_weekends", "early_mornings", "early_mornings, whole_weekends, rainy_days")
ZH_TIME = ("整个周末", "清晨", "清晨、整个周末、下雨天")
SHEET = make_sheet(
    Header(
        benchmark="amemgym",
        kind="exposure",
        title="State exposure",
        guide=CONFIG.guide_text(),
        domain="amemgym_demo",
        seed=0,
        units="messages",
        drawn=3,
        population=35,
    ),
    [
        message(
            "u1",
            "ann",
            ENGLISH,
            "en",
            item("u1#time", "gardening_time", *TIME),
            item("u1#place", "gardening_place", "an_allotment", "a_balcony", "a_balcony, an_allotment"),
        ),
        message("u2", "mei", CHINESE, "zh", item("u2#时间", "园艺时间", *ZH_TIME)),
        message("u3", "bob", MALICIOUS, "en", item("u3#<b>", "<b>bold</b>", "<i>x</i>", "&amp;", "a, b")),
    ],
)


class Desk:
    """A browser of one annotator with the page opened from disk."""

    def __init__(self, driver: Chrome, folder: Path, saved: Path) -> None:
        self.driver, self.folder, self.saved = driver, folder, saved
        behaviour = {"behavior": "allow", "downloadPath": str(saved)}
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
        driver.set_window_size(1280, 860)

    def open(self, name: str = "") -> None:
        self.driver.get((self.folder / PAGE).as_uri())
        if name:
            self.at("annotator").clear()
            self.at("annotator").send_keys(name, Keys.ENTER)

    def at(self, name: str):
        return self.driver.find_element(By.ID, name)

    def press(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def chosen(self) -> list[str]:
        return [
            each.get_attribute("value") for each in self.driver.find_elements(By.CSS_SELECTOR, ":checked")
        ]

    def active(self) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, "[aria-current]").get_attribute("data-item")

    def save(self) -> Path:
        before = set(self.saved.iterdir())
        self.press("s")
        return wait("saved", lambda: [path for path in self.saved.glob("*.jsonl") if path not in before])[0]

    def load(self, path: Path, then: Callable[[], object]) -> None:
        self.at("file").send_keys(str(path))
        wait("loaded", then)

    def picture(self, name: str) -> None:
        """Save a screenshot if MEMFLOW_SCREENSHOTS names a folder."""
        if "MEMFLOW_SCREENSHOTS" in os.environ:
            folder = ROOT / os.environ["MEMFLOW_SCREENSHOTS"]
            folder.mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(folder / f"{name}.png"))

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def driver(chromium: Callable[[], Chrome]) -> Chrome:
    return chromium()


def written(folder: Path, sheet: Sheet) -> Path:
    write_sheet(folder, sheet, {})
    (folder / PAGE).write_text(page_of(sheet), encoding="utf-8")
    return folder


@pytest.fixture
def desk(driver: Chrome, tmp_path: Path) -> Iterator[Desk]:
    """Return a browser with the page and empty local storage. Fail if the page logs an error."""
    (tmp_path / "saved").mkdir()
    desk = Desk(driver, written(tmp_path / "sheet", SHEET), tmp_path / "saved")
    desk.open()
    driver.execute_script("localStorage.clear()")
    driver.get_log("browser")
    yield desk
    assert desk.errors() == []


def test_annotation_page_restores_labels_after_reload_and_saves_readable_files(desk: Desk) -> None:
    desk.open("Ann Bell")
    assert desk.at("count").text == "0 of 4 labelled" and not desk.at("save").is_enabled()
    desk.press("1")
    assert desk.active() == "u1#place"
    desk.press("2")
    assert desk.active() == "u2#时间" and desk.at("place").text == "2 of 3 messages"
    desk.press("c", *"不太确定", Keys.ESCAPE, "1")
    assert desk.at("count").text == "3 of 4 labelled"

    desk.open("Ann Bell")  # all is kept: labels, comment, place
    assert desk.at("count").text == "3 of 4 labelled" and desk.active() == "u3#<b>"
    desk.press("3", "p")
    assert desk.driver.find_element(By.TAG_NAME, "textarea").get_attribute("value") == "不太确定"
    assert desk.chosen() == ["fully"]

    saved = desk.save()
    assert saved.name == "annotations-exposure-ann-bell.jsonl"
    sheet = read_sheet(desk.folder)
    found = read_annotations(saved, sheet)
    assert found.labels == {
        "u1#time": "fully",
        "u1#place": "partly",
        "u2#时间": "fully",
        "u3#<b>": "not_at_all",
    }
    assert found.comments == {"u2#时间": "不太确定"}

    desk.open("李雷")  # another annotator finds nothing of it
    assert desk.at("count").text == "0 of 4 labelled"
    desk.press("1", "1", "1", "3")
    (desk.folder / saved.name).write_bytes(saved.read_bytes())
    second = desk.save()
    assert second.name == "annotations-exposure-李雷.jsonl"
    (desk.folder / second.name).write_bytes(second.read_bytes())
    both, ann, lei = make_report(sheet, read_key(desk.folder, sheet), read_all(desk.folder, sheet)).measured
    assert (both.agreement.value, both.paired) == (0.75, 4)
    assert (ann.of, ann.mean.value, lei.of, lei.mean.value) == ("Ann Bell", 0.625, "李雷", 0.75)


def test_keyboard_moves_sets_and_clears_labels_and_clicks_set_labels(desk: Desk) -> None:
    desk.open("Bo")
    desk.press("j")
    assert desk.active() == "u1#place" and desk.at("count").text == "0 of 4 labelled"
    desk.press("k", "2", "k", "x")
    assert desk.active() == "u1#time" and desk.chosen() == []
    desk.driver.find_elements(By.CSS_SELECTOR, ".labels label")[4].click()
    assert desk.active() == "u1#place" and desk.chosen() == ["partly"]  # a click does not move on
    desk.press("u")
    assert desk.active() == "u2#时间"
    desk.press("n", "n", "j")
    assert desk.active() == "u3#<b>" and not desk.at("after").is_enabled()
    desk.press("u")
    assert desk.active() == "u1#time" and desk.at("guide").get_attribute("open") is None
    desk.press("g")
    assert desk.at("told").is_displayed() and "another value fits nearly as well" in desk.at("told").text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_annotation_page_supports_color_schemes_and_narrow_windows(desk: Desk, scheme: str) -> None:
    scheme_wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    desk.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme_wanted})
    desk.driver.set_window_size(1280, 1040)
    desk.open("Ann Bell")
    desk.press("1")
    ground, ink = (
        sum(
            map(
                int,
                re.findall(r"\d+", desk.driver.find_element(By.TAG_NAME, "body").value_of_css_property(name))[
                    :3
                ],
            )
        )
        for name in ("background-color", "color")
    )
    assert (ground > ink) == (scheme == "light")
    if scheme == "light":
        desk.picture("annotation")
    desk.press("n")
    desk.driver.set_window_size(500, 860)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert desk.driver.execute_script(wide) == 0  # nothing to scroll sideways on a telephone


def test_annotation_page_shows_markup_in_item_text_as_plain_text(desk: Desk) -> None:
    desk.open("Bo")
    desk.press("n", "n")
    assert desk.driver.find_element(By.CSS_SELECTOR, "#shown .text").text == MALICIOUS
    assert "<b>bold</b> is now" in desk.at("items").text and "&amp;" in desk.at("items").text
    assert desk.driver.title == "State exposure: amemgym_demo"
    assert not desk.driver.find_elements(By.TAG_NAME, "img")
    assert len(desk.driver.find_elements(By.TAG_NAME, "script")) == 2
    shown = desk.at("shown")
    desk.press("p")
    assert shown.get_attribute("lang") == "zh"


def test_annotation_page_loads_a_saved_file_and_rejects_an_invalid_file(desk: Desk, tmp_path: Path) -> None:
    desk.open("Bo")
    desk.press("1", "2")
    saved = desk.save()
    desk.driver.execute_script("localStorage.clear()")
    desk.open("Somebody else")
    desk.load(saved, lambda: desk.at("who").text == "Bo")
    assert desk.at("count").text == "2 of 4 labelled"

    wrong = tmp_path / "wrong.jsonl"
    head, first, *_ = saved.read_text().splitlines()
    for text, told in (
        ("{", "wrong.jsonl was not loaded: line 1 is not JSON."),
        (head.replace(SHEET.header.digest, "0" * 32), "it annotates another sheet than this page shows."),
        (f"{head}\n{first.replace('fully', 'perhaps')}", "line 2: perhaps is no label of the item u1#time."),
        (f"{head}\n{first.replace('u1#time', 'u9')}", "line 2: this sheet has no item u9."),
    ):
        wrong.write_text(text)
        desk.load(wrong, lambda told=told: told in desk.at("problem").text)
        assert desk.at("count").text == "2 of 4 labelled"
    desk.load(saved, lambda: not desk.at("problem").is_displayed())


def test_annotation_page_ignores_invalid_labels_in_local_storage(desk: Desk) -> None:
    kept = {"labels": {"u1#time": "perhaps", "u9": "fully", "u1#place": "fully"}, "place": 99}
    name = f"memflow annotation {SHEET.header.digest} Bo"
    desk.driver.execute_script("localStorage.setItem(...arguments)", name, json.dumps(kept))
    desk.open("Bo")
    assert desk.at("count").text == "1 of 4 labelled" and desk.active() == "u1#time"


def test_page_controls_have_accessible_names_and_are_reachable_by_tab_key(desk: Desk) -> None:
    desk.open("Bo")
    reached = set()
    for _ in range(30):
        desk.press(Keys.TAB)
        focused = desk.driver.switch_to.active_element
        reached.add(focused.get_attribute("id") or focused.tag_name)
        if focused.tag_name in {"input", "button", "textarea", "summary"}:
            assert focused.accessible_name
    assert {"after", "load", "input", "button", "who"} <= reached
    groups = desk.driver.find_elements(By.TAG_NAME, "fieldset")
    assert [each.aria_role for each in groups] == ["group", "group"]
