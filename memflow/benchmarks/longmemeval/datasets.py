"""LongMemEval's data sets: the three published files, and a small sample of our own writing."""

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.longmemeval.types import PUBLISHED_ABSTENTIONS, PUBLISHED_COUNTS
from memflow.benchmarks.origins import Download, hugging_face_file

_COUNTS = {
    "questions": sum(PUBLISHED_COUNTS.values()),
    "abstention questions": sum(PUBLISHED_ABSTENTIONS.values()),
    **PUBLISHED_COUNTS,
}
_FOLDER = "longmemeval"
_ORIGIN = "https://github.com/xiaowu0162/LongMemEval"
_REPOSITORY, _REVISION = "xiaowu0162/longmemeval-cleaned", "98d7416c24c778c2fee6e6f3006e7a073259d48f"
_CARD = f"https://huggingface.co/datasets/{_REPOSITORY}"


def _published(name: str, title: str, file: str, size: str, part: str = "", sha256: str = "") -> Dataset:
    """Return one of the published files. `part` is the name of a file with some of its questions, for tests."""
    path = f"{_FOLDER}/{file}"
    return Dataset(
        name,
        f"LongMemEval, {title}",
        "longmemeval",
        (path,),
        "MIT",
        _ORIGIN,
        f"Download {file} ({size}) from {_CARD} and copy it to the folder {_FOLDER} of the data folder.",
        sums={path: sha256} if sha256 else {},
        instead={path: (f"{_FOLDER}/{part}",)} if part else {},
        counts=_COUNTS,
        download=Download(_CARD, (hugging_face_file(_REPOSITORY, file, path, sha256, revision=_REVISION),)),
    )


ORACLE = _published(
    "longmemeval_oracle",
    "evidence sessions only",
    "longmemeval_oracle.json",
    "15 MB",
    "oracle_knowledge_update_part.json",
    "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
)
S = _published(
    "longmemeval_s",
    "about 48 sessions a question",
    "longmemeval_s_cleaned.json",
    "278 MB",
    "s_part.json",
    "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
)
M = _published("longmemeval_m", "about 500 sessions a question", "longmemeval_m_cleaned.json", "2.7 GB")
SAMPLE = Dataset(
    "longmemeval_sample",
    "Seven questions of our own writing in the format of LongMemEval",
    "longmemeval",
    ("benchmarks/longmemeval/sample/sample.json",),
    "Apache-2.0",
    "memflow",
    "It ships with memflow.",
    ships=True,
)
DATASETS = (SAMPLE, ORACLE, S, M)
