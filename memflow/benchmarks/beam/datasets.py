"""BEAM's data sets: one for each size, from Hugging Face or a checkout of the repository, and a sample of our own."""

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import Download, hugging_face_file

_FOLDER = "beam"
_SMALL = ("Mohammadta/BEAM", "3205395e897e7318c7b094ef4e6047b9b82dbb03")
_LARGE = ("Mohammadta/BEAM-10M", "9b2096193fe74e2837e4713e483351e19817773c")


def _published(
    size: str, repository: tuple[str, str], files: dict[str, tuple[str, int]], conversations: int
) -> Dataset:
    """Return the data set of a size. `files` has the checksum and the size in bytes of each published file."""
    owner, revision = repository
    published = f"{_FOLDER}/{size}-*.parquet" if len(files) > 1 else f"{_FOLDER}/{next(iter(files))}"
    folders = (f"{_FOLDER}/{size}", f"{_FOLDER}/chats/{size}")
    page = f"https://huggingface.co/datasets/{owner}"
    return Dataset(
        f"beam_{size.lower()}",
        f"BEAM, conversations of {size} tokens",
        "beam",
        (published,),
        "CC-BY-SA-4.0",
        f"Hugging Face dataset {owner}; github.com/mohammadtavakoli78/BEAM",
        f"Download the files of {page}, or copy chats/{size} of the repository to {folders[0]} in the data folder.",
        sums={f"{_FOLDER}/{file}": sha256 for file, (sha256, _) in files.items()},
        instead={
            published: (
                f"{_FOLDER}/{size}*.parquet",
                f"{_FOLDER}/{size}*.jsonl",
                *(f"{folder}/**/*.json" for folder in folders),
            )
        },
        counts={"conversations": conversations, "questions": 20 * conversations},
        partial=True,
        download=Download(
            page,
            tuple(
                hugging_face_file(owner, f"data/{file}", f"{_FOLDER}/{file}", sha256, bytes_, revision)
                for file, (sha256, bytes_) in files.items()
            ),
        ),
    )


def _shard(size: str, sha256: str, length: int) -> dict[str, tuple[str, int]]:
    return {f"{size}-00000-of-00001.parquet": (sha256, length)}


SMALL = _published(
    "100K",
    _SMALL,
    _shard("100K", "c0519be25907005ba873c927c50877471d550873039d96c041554d0075a78ace", 5_429_768),
    20,
)
MIDDLE = _published(
    "500K",
    _SMALL,
    _shard("500K", "af05921c979355038e1761b7cde3d2dd713200dd3071b278de0200f6c7f30122", 33_956_263),
    35,
)
LARGE = _published(
    "1M",
    _SMALL,
    _shard("1M", "41b5acbbb55a586b1305514ef9d9fb03365d9b3331b598a1c2dd7603d93ef533", 66_156_374),
    35,
)
LARGEST = _published(
    "10M",
    _LARGE,
    {
        "10M-00000-of-00002.parquet": (
            "31d96fd47ec56221d202e68792f26c00e49467dd4b36ee105c36ebd19ef78ad5",
            153_844_664,
        ),
        "10M-00001-of-00002.parquet": (
            "a4f13fe25af51d57405ae41008689c31d1421377f3efde56a024b441deb2ee65",
            189_980_875,
        ),
    },
    10,
)
SAMPLE = Dataset(
    "beam_sample",
    "Two conversations of our own writing in BEAM's form, for beam_demo",
    "beam",
    ("benchmarks/beam/sample/conversations.jsonl",),
    "Apache-2.0",
    "memflow",
    "It ships with memflow.",
    ships=True,
    counts={"conversations": 2, "questions": 40},
)
DATASETS = (SAMPLE, SMALL, MIDDLE, LARGE, LARGEST)
