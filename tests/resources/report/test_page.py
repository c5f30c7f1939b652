"""The page of a report and its policy."""

import html
import re
from pathlib import Path

from memflow.resources.report.page import bundle, index_page

FRONT_END = Path(__file__).parents[3] / "resources/report/app"


def test_page_loads_only_its_own_files_and_forbids_the_network() -> None:
    page = index_page("report").decode()
    assert re.findall(r"<script[^>]*>[^<]*", page) == ['<script src="app.js">', '<script src="data/site.js">']
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    policy = html.unescape(found[1]) if found else ""
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy and "http" not in policy and "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]


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
