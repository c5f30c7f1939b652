"""HaluMem's data sets: the two published files, fetched by the user, and two users of our own writing in their form."""

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import Download, hugging_face_file

_REPOSITORY, _REVISION = "IAAR-Shanghai/HaluMem", "6c4dbab"
_CARD = f"https://huggingface.co/datasets/{_REPOSITORY}"
_FOLDER = "halumem"
_COUNTS = {"users": 20, "points": 14_948, "questions": 3_467}


def _size(name: str, published: str, title: str, sha256: str, sessions: int, messages: int) -> Dataset:
    """Return the data set of a published file. Files of single users serve instead of it, as a part."""
    path = f"{_FOLDER}/{published}"
    part = published.removesuffix(".jsonl").removeprefix("HaluMem-").lower()
    return Dataset(
        name,
        f"HaluMem, {title}",
        _FOLDER,
        (path,),
        "CC-BY-NC-ND-4.0",
        f"Hugging Face dataset {_REPOSITORY}",
        f"Download {published} from {_CARD} and copy it to the folder {_FOLDER} of the data folder.",
        sums={path: sha256},
        instead={path: (f"{_FOLDER}/{part}_*sessions*.json",)},
        partial=True,
        counts={**_COUNTS, "sessions": sessions, "messages": messages},
        download=Download(
            _CARD, (hugging_face_file(_REPOSITORY, published, path, sha256, revision=_REVISION),)
        ),
    )


MEDIUM = _size(
    "halumem_medium_users",
    "HaluMem-Medium.jsonl",
    "20 users with 1,387 sessions",
    "486fbc130a5c8781a2af27ffa508a1d7855245137aa449c193ac4d29c45634e7",
    1_387,
    60_146,
)
LONG = _size(
    "halumem_long_users",
    "HaluMem-Long.jsonl",
    "the same users with 1,030 sessions of other talk between theirs",
    "dfdbed570b402b7b8c17e0d7808fc6f3ae7a53b6144f18feb16bbdd3f55cb0c9",
    2_417,
    107_032,
)
SAMPLE = Dataset(
    "halumem_sample",
    "Two users of our own writing in HaluMem's form, for halumem_demo",
    _FOLDER,
    ("benchmarks/halumem/sample/users.jsonl",),
    "Apache-2.0",
    "memflow",
    "It ships with memflow.",
    ships=True,
    counts={"users": 2, "sessions": 7, "messages": 30, "points": 16, "questions": 12},
)
DATASETS = (SAMPLE, MEDIUM, LONG)
