"""The page of a report and its policy."""

import re
from html.parser import HTMLParser
from pathlib import Path

from memflow.resources.report.page import bundle, index_page

FRONT_END = Path(__file__).parents[3] / "resources/report/app"


class Page(HTMLParser):
    """The scripts, styles and policy that a browser finds in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        if tag == "script" and "src" in values:
            self.sources.append(values["src"] or "")
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and data.strip():
            self.scripts.append(data)


def test_page_loads_only_its_own_files_and_forbids_the_network() -> None:
    page = Page(index_page("report").decode())
    assert page.sources == ["app.js", "data/site.js"] and page.scripts == []
    assert page.policy.startswith("default-src 'none'")
    assert "connect-src" not in page.policy and "http" not in page.policy and "unsafe-eval" not in page.policy
    assert "'unsafe-inline'" not in page.policy.partition("script-src")[2].partition(";")[0]


def test_title_of_the_page_is_escaped() -> None:
    assert b"<title>&lt;svg&gt;</title>" in index_page("<svg>")


def test_front_end_loads_nothing_from_the_network() -> None:
    text = bundle("app.js").decode("utf-8")
    allowed = ("http://www.w3.org/", "https://www.w3.org/")  # names of XML namespaces
    assert not [each for each in re.findall(r"https?://[\w./-]+", text) if not each.startswith(allowed)]
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|\beval\(|new Function", text)


def test_front_end_writes_texts_as_text_nodes() -> None:
    sources = [path for path in (FRONT_END / "src").rglob("*") if path.suffix in (".js", ".jsx")]
    assert sources
    unsafe = re.compile("innerHTML|outerHTML|insertAdjacentHTML|document.write")
    assert not [path.name for path in sources if unsafe.search(path.read_text(encoding="utf-8"))]


def test_wheel_contains_the_front_end_with_its_licenses() -> None:
    assert bundle("app.css") and b"MIT" in bundle("LICENSES.txt")
