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


_FRIENDS = {
    "dialsim/dialsim_corpus_friends.txt": "a54c78565e5f22df0f1cf65222661bc554212eaccb493d6a145acc4b77dee7c4"
}
_HELLOBENCH = {
    f"hellobench/{name}.jsonl": sha256
    for name, sha256 in (
        ("chat", "04f7a75417ab50f245c226143fa4f7ad48849459ae65ab5b3d0fceda9d36eff6"),
        ("heuristic_text_generation", "2b4a61adb627d2b54fb0ac77c5de427e0a7aa523c6f37b812087382a378b165c"),
        ("open_ended_qa", "57e76a480395a65d000b6081c24b76b8d6940758e953e3ae5c20d4bec8b9c102"),
        ("text_completion", "01852f09ebdeb4f8fc352ea23fffb504923cd3ec64824e23d39b4caa8afc2c84"),
    )
}

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
                "script: GitHub LittleDinoC/MemoryBench-code; questions: DialSim v1.1, GitHub jiho283/Simulator",
                f"Copy raw/DialSim/dialsim_corpus_{show}.txt of LittleDinoC/MemoryBench-code to dialsim/ in the data "
                f"folder, and {show}_dialsim.pickle beside it, from dialsim_v1.1.zip, to which jiho283/Simulator "
                f"leads; questions of your own go into {show}_questions.json (docs/memorybench.md).",
                sums,
                (f"dialsim/{show}_dialsim.pickle",),
                {f"dialsim/{show}_dialsim.pickle": (f"dialsim/{show}_questions.json",)},
            )
            for show, title, sums in (
                ("friends", "Friends", _FRIENDS),
                ("bigbang", "The Big Bang Theory", {}),
                ("theoffice", "The Office", {}),
            )
        ),
        *(
            Dataset(
                f"hellobench_{part}",
                f"HelloBench, {title}: long texts judged by checklists",
                "memorybench",
                tuple(f"hellobench/{name}.jsonl" for name in files),
                "MIT",
                "GitHub Quehry/HelloBench",
                f"Copy {', '.join(f'{name}.jsonl' for name in (*files, *more))} of HelloBench/ in Quehry/HelloBench "
                "to hellobench/ in the data folder.",
                _HELLOBENCH,
                tuple(f"hellobench/{name}.jsonl" for name in more),
            )
            for part, title, files, more in (
                ("qa", "questions and science", ("open_ended_qa", "chat"), ()),
                ("writing", "academic writing", ("chat", "heuristic_text_generation"), ("summarization",)),
                (
                    "creative",
                    "creative and design tasks",
                    ("chat", "heuristic_text_generation", "text_completion"),
                    (),
                ),
            )
        ),
        Dataset(
            "writingprompts",
            "WritingPrompts: stories on a given premise, the first 2,000 of the test split",
            "memorybench",
            ("writingprompts/test.parquet",),
            "MIT as declared; texts by Reddit users",
            "Hugging Face dataset euclaise/writingprompts",
            "Download the test split of euclaise/writingprompts, a parquet file, to writingprompts/test.parquet in the "
            "data folder.",
        ),
        *(
            Dataset(
                f"writingbench_{part}",
                f"WritingBench, {title}, judged by criteria",
                "memorybench",
                ("writingbench/benchmark_all.jsonl",),
                "Apache-2.0",
                "GitHub X-PLUG/WritingBench",
                "Copy benchmark_all.jsonl of X-PLUG/WritingBench, its 1,000 queries, to writingbench/ in the data "
                "folder; one of its length subsets, as length_subset.jsonl, will do for a part.",
                {
                    "writingbench/length_subset.jsonl": (
                        "5f12e5c85f8298f53045bfe2a37a3a37d5c04e3d6ef33b68b023478444ac85ab"
                    )
                },
                instead={"writingbench/benchmark_all.jsonl": ("writingbench/length_subset.jsonl",)},
            )
            for part, title in (
                ("law", "politics and law"),
                ("academic", "academic and engineering"),
                ("creative", "literature, education and advertising"),
            )
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
        ),
    )
}


def dataset(name: str, known: Mapping[str, Dataset] = DATASETS) -> Dataset:
    """The data set of that name. Raises BadInput naming those there are."""
    if name not in known:
        raise BadInput(f"there is no data set {name!r}; there are {', '.join(known)}")
    return known[name]
