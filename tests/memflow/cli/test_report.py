"""`memflow report` and `memflow view`."""

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from report_home import read_data


def test_report_is_written_below_the_home_by_default(measured) -> None:
    written = measured.json("report")
    assert written["folder"] == str(measured.folder / "report") and Path(written["page"]).is_file()
    assert written["assistants"] == ["none", "oracle", "full", "awi"]
    assert measured.json("report")["written"] == 0


def test_report_of_an_empty_lake_names_the_next_step(empty) -> None:
    assert "memflow run --demo" in empty.error("report")


def test_report_as_of_a_moment_names_the_moment(measured, tmp_path: Path) -> None:
    assert measured("report", str(tmp_path / "report"), "--as-of", "2100-01-01T00:00+00:00").exit_code == 0
    assert read_data(tmp_path / "report", "site")["as_of"] == "2100-01-01T00:00:00+00:00"
    assert "is no moment" in measured.error("report", "--as-of", "yesterday")


def test_folder_without_a_report_cannot_be_viewed(measured, tmp_path: Path) -> None:
    assert "contains no report" in measured.error("view", str(tmp_path))


@pytest.mark.kill
def test_view_serves_the_report_until_it_is_interrupted(measured, clean_environment) -> None:
    command = [sys.executable, "-m", "memflow.cli", "--home", str(measured.folder), "view", "--no-browser"]
    environment = {**clean_environment, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = urlsplit(next(word for word in line.split() if word.startswith("http://")))
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=10)
        connection.request("GET", "/data/site.js")
        response = connection.getresponse()
        assert response.status == 200
        text = response.read().decode()
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert json.loads(text.removeprefix('memflow.take("site",').removesuffix(");\n"))["format"] == 1
