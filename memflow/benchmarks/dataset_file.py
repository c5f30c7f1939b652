"""Data sets of a benchmark from `datasets.toml` in its package: one table per data set, by name.

The keys of a table are the fields of `Dataset`, with lists for tuples. In its table `download`, `page` and `terms` are
those of `Download`, and `github` or `hugging_face` names the repository as `OWNER/NAME@REVISION`. The other keys:

* `files`: by path below the data folder, `source` (the path in the repository) and, where known, `sha256` and `size`;
* `archive`: folders of the repository's archive and the folders that get them, with the `patterns` of paths;
* `snapshot`: the folder that gets all files whose paths match one of the `patterns` (Hugging Face only).
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from memflow.benchmarks.datasets import Dataset, Defect
from memflow.benchmarks.origins import Download, HuggingFaceFiles, Origin, RemoteArchive, RemoteFile
from memflow.benchmarks.packaged import load_toml


def load_datasets(package: str) -> tuple[Dataset, ...]:
    """Return the data sets of a package's `datasets.toml`, in order. The last part of its name is the benchmark's."""
    benchmark = package.rpartition(".")[2]
    return tuple(
        _dataset(benchmark, name, table) for name, table in load_toml(package, "datasets.toml").items()
    )


def _dataset(benchmark: str, name: str, table: Mapping[str, Any]) -> Dataset:
    fields = dict(table)
    if defects := fields.get("defects"):
        fields["defects"] = tuple(Defect(**defect) for defect in defects)
    if "download" in table:
        download = table["download"]
        origins = tuple(_origins(download))
        fields["download"] = Download(download["page"], origins, download.get("terms", ""))
    return Dataset(name=name, benchmark=benchmark, **fields)


def _origins(download: Mapping[str, Any]) -> Iterator[Origin]:
    on_github = "github" in download
    repository, _, revision = download["github" if on_github else "hugging_face"].partition("@")
    revision = revision or "main"
    raw = f"https://huggingface.co/datasets/{repository}/resolve/{revision}"
    if on_github:
        raw = f"https://raw.githubusercontent.com/{repository}/{revision}"
    for path, known in download.get("files", {}).items():
        fields = dict(known)
        yield RemoteFile(f"{raw}/{quote(fields.pop('source'))}", path, **fields)
    patterns = download.get("patterns", ())
    if "archive" in download:
        # The checksum of an archive is not known: GitHub packs it on request.
        archive = f"https://codeload.github.com/{repository}/tar.gz/{revision}"
        yield RemoteArchive(archive, download["archive"], strip=1, patterns=patterns)
    if "snapshot" in download:
        yield HuggingFaceFiles(repository, download["snapshot"], patterns, revision)
