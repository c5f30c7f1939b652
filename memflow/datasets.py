"""The known data sets: what each is, its licence, its origin, and how a person gets it.

Finding the files and checking their sums is resources/library.py; reading them is the benchmark's records.py.
None of the published data ships with memflow; what does ship is our own writing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memflow.errors import BadInput


@dataclass(frozen=True)
class Dataset:
    """A data set, published or a user's own.

    `files` are paths below the data folder, a user's own also absolute; a `*` stands for any name. `sums` are their
    SHA-256, where known. Without `optional` files a part of it is read. `instead` names for a file those that serve in
    its place; the first that is there is taken.
    """

    name: str
    title: str
    benchmark: str
    files: tuple[str, ...]
    licence: str
    origin: str
    how: str
    """How a person gets it, in one sentence."""
    sums: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ships: bool = False
    """True for our own samples: `files` are then paths inside the package `memflow`."""
    readable: bool = True
    """False while memflow knows the data set but has no reader for it yet."""
    own: bool = False
    """True for a file of the user's own, named in memflow.toml."""


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "personas_sample",
            "Personas of our own writing, for amemgym_demo",
            "amemgym",
            ("benchmarks/amemgym/sample/personas.jsonl",),
            "Apache-2.0",
            "memflow",
            "It ships with memflow.",
            ships=True,
        ),
        *(
            Dataset(
                f"personas_{language}",
                f"Traits of our own writing, {words}, from which any number of personas is invented",
                "amemgym",
                (f"benchmarks/amemgym/sample/traits_{language}.yaml",),
                "Apache-2.0",
                "memflow",
                "It ships with memflow.",
                ships=True,
            )
            for language, words in (("en", "English"), ("zh", "Chinese"))
        ),
        Dataset(
            "amemgym_v1_base",
            "AMemGym v1.base: 20 users, 11 periods, 10 questions each",
            "amemgym",
            ("amemgym/v1.base/data.json",),
            "CC-BY-4.0",
            "Hugging Face dataset AGI-Eval/AMemGym",
            "Download v1.base/data.json of AGI-Eval/AMemGym to amemgym/v1.base/data.json in the data folder.",
        ),
        Dataset(
            "amemgym_v1_base_run",
            "A recorded run of AMemGym v1.base, for amemgym_base_offpolicy",
            "amemgym",
            ("amemgym/v1.base/run.jsonl",),
            "that of its users, CC-BY-4.0, and of the models that spoke",
            "a run of your own: none has been published",
            "Play amemgym_base, then `memflow export transcript amemgym_base ASSISTANT FILE` with "
            "amemgym/v1.base/run.jsonl in the data folder as FILE.",
        ),
        Dataset(
            "memorybench_sample",
            "A conversation and cases of our own writing, English and Chinese, for memorybench_demo",
            "memorybench",
            ("benchmarks/memorybench/sample/conversation.json", "benchmarks/memorybench/sample/cases.jsonl"),
            "Apache-2.0",
            "memflow",
            "It ships with memflow.",
            ships=True,
        ),
        Dataset(
            "locomo",
            "LoCoMo: 10 long conversations, 1,986 questions",
            "memorybench",
            ("locomo/locomo10.json",),
            "CC BY-NC 4.0",
            "GitHub snap-research/LoCoMo",
            "Download data/locomo10.json of snap-research/LoCoMo to locomo/locomo10.json in the data folder.",
            {"locomo/locomo10.json": "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"},
        ),
        *(
            Dataset(
                f"dialsim_{show}",
                f"DialSim, {title}: a show's script and questions about it",
                "memorybench",
                (f"dialsim/dialsim_corpus_{show}.txt",),
                "none: third-party scripts, for local use only",
                "GitHub LittleDinoC/MemoryBench-code; questions: DialSim v1.1",
                f"Copy dialsim_corpus_{show}.txt of LittleDinoC/MemoryBench-code to dialsim/ in the folder.",
                readable=False,
            )
            for show, title in (
                ("friends", "Friends"),
                ("bigbang", "The Big Bang Theory"),
                ("theoffice", "The Office"),
            )
        ),
        Dataset(
            "hellobench_creative",
            "HelloBench, creative and design tasks: long texts judged by checklists",
            "memorybench",
            tuple(
                f"hellobench/{part}.jsonl"
                for part in ("chat", "heuristic_text_generation", "text_completion")
            ),
            "MIT",
            "GitHub Quehry/HelloBench",
            "Copy the five .jsonl files of Quehry/HelloBench to hellobench/ in the data folder.",
            readable=False,
        ),
        Dataset(
            "writingprompts",
            "WritingPrompts: stories on a given premise",
            "memorybench",
            ("writingprompts/test.parquet",),
            "MIT as declared; texts by Reddit users",
            "Hugging Face dataset euclaise/writingprompts",
            "Download the test split's parquet file to writingprompts/test.parquet in the data folder.",
            readable=False,
        ),
        Dataset(
            "writingbench_creative",
            "WritingBench, creative and design writing, judged by criteria",
            "memorybench",
            ("writingbench/benchmark_all.jsonl",),
            "Apache-2.0",
            "GitHub X-PLUG/WritingBench",
            "Copy benchmark_all.jsonl of X-PLUG/WritingBench to writingbench/ in the data folder.",
            readable=False,
        ),
        Dataset(
            "nfcats",
            "NF-CATS: 2,397 non-factoid questions",
            "memorybench",
            ("nfcats/test.csv",),
            "MIT",
            "GitHub Lurunchik/NF-CATS",
            "Copy test.csv of Lurunchik/NF-CATS to nfcats/test.csv in the data folder.",
            {"nfcats/test.csv": "a47267d561a820ea31bcc7ab8660149f5b0c7eee19aef96bff7f41f3d37a3209"},
            readable=False,
        ),
    )
}


def dataset(name: str, known: Mapping[str, Dataset] = DATASETS) -> Dataset:
    """The data set of that name. Raises BadInput naming those there are."""
    if name not in known:
        raise BadInput(f"there is no data set {name!r}; there are {', '.join(known)}")
    return known[name]
