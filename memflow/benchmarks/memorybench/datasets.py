"""MemoryBench's data sets: the original data set of each task, the unified form of all tasks, and our sample."""

from collections.abc import Mapping
from types import MappingProxyType

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import (
    Download,
    HuggingFaceFiles,
    github_archive,
    github_file,
    hugging_face_file,
)
from memflow.benchmarks.tv_scripts import SCRIPT_DEFECTS, SCRIPT_DOWNLOADS, SHOWS

_LEXEVAL_QA = "18914ec0f990911ce74c4230533788d7e368515336ed2ba7230a9cf9b40d5f88"
_HELLOBENCH = {
    f"hellobench/{name}.jsonl": sha256
    for name, sha256 in (
        ("chat", "04f7a75417ab50f245c226143fa4f7ad48849459ae65ab5b3d0fceda9d36eff6"),
        ("heuristic_text_generation", "2b4a61adb627d2b54fb0ac77c5de427e0a7aa523c6f37b812087382a378b165c"),
        ("open_ended_qa", "57e76a480395a65d000b6081c24b76b8d6940758e953e3ae5c20d4bec8b9c102"),
        ("text_completion", "01852f09ebdeb4f8fc352ea23fffb504923cd3ec64824e23d39b4caa8afc2c84"),
    )
}
_HELLOBENCH_SIZES = {
    "hellobench/chat.jsonl": 1_037_312,
    "hellobench/heuristic_text_generation.jsonl": 449_449,
    "hellobench/open_ended_qa.jsonl": 1_429_936,
    "hellobench/text_completion.jsonl": 1_973_129,
}
_CODE = ("LittleDinoC/MemoryBench-code", "59d1b60ef686fd0b7121678e3d9dfc9ff4e72893")


def _github(
    repository: str, commit: str, files: Mapping[str, str], sizes: Mapping[str, int] = MappingProxyType({})
) -> Download:
    """Return the download of files of a GitHub repository. `files` maps local paths to paths in the repository."""
    origins = (
        github_file(repository, commit, source, path, size=sizes.get(path)) for path, source in files.items()
    )
    return Download(f"https://github.com/{repository}", tuple(origins))


LOCOMO_DOWNLOAD = _github(
    "snap-research/LoCoMo",
    "3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376",
    {"locomo/locomo10.json": "data/locomo10.json"},
    {"locomo/locomo10.json": 2_805_274},
)
"""The published conversations, which MemoryBench and LoCoMo with the judge read."""

DATASETS = (
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
        counts={"conversations": 10, "questions": 1_986},
        download=LOCOMO_DOWNLOAD,
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
            f"leads; questions of your own go into {show}_questions.json (docs/explanation/memorybench.md).",
            sums,
            (f"dialsim/{show}_dialsim.pickle",),
            {f"dialsim/{show}_dialsim.pickle": (f"dialsim/{show}_questions.json",)},
            counts={"sessions": sessions},
            defects=SCRIPT_DEFECTS.get(show, ()),
            download=SCRIPT_DOWNLOADS[show],
        )
        for (show, title, sums), sessions in zip(SHOWS, (788, 805, 2_347), strict=True)
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
            download=_github(
                "Quehry/HelloBench",
                "d403282968b0a61a4963a73c631d3fc1318f17d7",
                {f"hellobench/{name}.jsonl": f"data/main_data/{name}.jsonl" for name in (*files, *more)},
                _HELLOBENCH_SIZES,
            ),
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
        counts={"questions": 2_000},
        download=Download(
            "https://huggingface.co/datasets/euclaise/writingprompts",
            (
                hugging_face_file(
                    "euclaise/writingprompts",
                    "data/test-00000-of-00001-16503b0c26ed00c6.parquet",
                    "writingprompts/test.parquet",
                ),
            ),
        ),
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
            download=_github(
                "X-PLUG/WritingBench",
                "ae2d5176449b7b769815482641d35926f26793eb",
                {"writingbench/benchmark_all.jsonl": "benchmark_query/benchmark_all.jsonl"},
            ),
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
        counts={"questions": 2_397},
        download=_github(
            "Lurunchik/NF-CATS",
            "1b8c3b83337dfe0889245e817f1ba104e69939bd",
            {"nfcats/test.csv": "nfcats/data/test.csv"},
            {"nfcats/test.csv": 258_648},
        ),
    ),
    *(
        Dataset(
            f"lexeval_{name}",
            f"LexEval {part.replace('_', '-')}: {count:,} Chinese legal {what}",
            "memorybench",
            (f"lexeval/{part}.json",),
            "MIT",
            "GitHub CSHaitao/LexEval",
            f"Copy data/{part}.json of CSHaitao/LexEval to lexeval/ in the data folder.",
            sums,
            counts={"questions": count},
            download=_github(
                "CSHaitao/LexEval",
                "044c695f62894deef41ad9a30797e1da0404945c",
                {f"lexeval/{part}.json": f"data/{part}.json"},
                {"lexeval/5_4.json": 1_298_576},
            ),
        )
        for name, part, count, what, sums in (
            ("summarization", "5_1", 1_000, "texts to sum up", {}),
            ("judge", "5_2", 1_000, "cases to analyse", {}),
            ("qa", "5_4", 500, "open questions", {"lexeval/5_4.json": _LEXEVAL_QA}),
        )
    ),
    Dataset(
        "judge",
        "JuDGE: the facts of 2,505 Chinese criminal cases and their judgment documents",
        "memorybench",
        ("judge/test.json",),
        "MIT",
        "GitHub oneal2000/JuDGE",
        "Copy train.json (2,004 cases) and test.json (501) of oneal2000/JuDGE to judge/ in the data folder.",
        {"judge/test.json": "cce4478ce5c434e260e485f8d1fd654efc40cbdf8b4fa5ce2bbbcf9a5f1ac8eb"},
        optional=("judge/train.json",),
        counts={"questions": 2_505},
        partial=True,
        download=_github(
            "oneal2000/JuDGE",
            "2457c65eb4fbeff65f60dba617f6c9cbc221e71b",
            {f"judge/{part}.json": f"data/{part}.json" for part in ("test", "train")},
            {"judge/test.json": 3_430_291},
        ),
    ),
    Dataset(
        "ideabench",
        "IdeaBench: 2,374 papers and the abstracts that they refer to",
        "memorybench",
        ("ideabench/target_papers.csv", "ideabench/filtered_references.csv"),
        "none stated",
        "GitHub amir-hassan25/IdeaBench",
        "Copy target_papers.csv and filtered_references.csv of amir-hassan25/IdeaBench to ideabench/ in the data "
        "folder; its ablation targets serve for neither.",
        counts={"questions": 2_374},
        download=_github(
            "amir-hassan25/IdeaBench",
            "9dbd125f2e72987a852a26afa3abd018bf518049",
            {
                f"ideabench/{name}.csv": f"data/dataset/{name}.csv"
                for name in ("target_papers", "filtered_references")
            },
        ),
    ),
    Dataset(
        "scitechnews",
        "SciTechNews: 1,000 papers and what press releases made of them",
        "memorybench",
        ("scitechnews/test.json",),
        "none stated",
        "Hugging Face dataset ronaldahmed/scitechnews",
        "Download test.json of ronaldahmed/scitechnews to scitechnews/test.json in the data folder.",
        counts={"questions": 1_000},
        download=Download(
            "https://huggingface.co/datasets/ronaldahmed/scitechnews",
            (hugging_face_file("ronaldahmed/scitechnews", "test.json", "scitechnews/test.json"),),
        ),
    ),
    Dataset(
        "limitgen",
        "LimitGen-Syn: 1,000 papers, each with one of 11 kinds of limitation put into it",
        "memorybench",
        ("limitgen_syn/annotated/*/*.json", "limitgen_syn/sections/*.json"),
        "none stated",
        "GitHub yale-nlp/LimitGen",
        "Copy annotated/ and sections/ below data/syn of yale-nlp/LimitGen to limitgen_syn/ in the data folder.",
        counts={"questions": 1_000},
        partial=True,
        download=Download(
            f"https://github.com/{_CODE[0]}",
            (
                github_archive(
                    *_CODE,
                    {
                        "raw/LimitGen/annotated/": "limitgen_syn/annotated/",
                        "raw/LimitGen/sections/": "limitgen_syn/sections/",
                    },
                    ("*.json",),
                ),
            ),
            terms="This is the copy in MemoryBench's code, of which the whole repository is downloaded.",
        ),
    ),
    *(
        Dataset(
            f"unified_{name}",
            "A data set in MemoryBench's own form: sampled, split and worded by its authors",
            "memorybench",
            (
                f"memorybench/dataset/{published}/test/data*",
                f"memorybench/dataset/{published}/train/data*",
                *((f"memorybench/corpus/{published}.jsonl",) if corpus else ()),
            ),
            "MIT as declared; the texts under the licences of their own data sets",
            "Hugging Face dataset THUIR/MemoryBench",
            "Run `hf download THUIR/MemoryBench --repo-type dataset --local-dir memorybench` in the data folder.",
            instead={
                f"memorybench/dataset/{published}/{part}/data*": (f"memorybench/{published}/{part}*",)
                for part in ("test", "train")
            },
            download=Download(
                "https://huggingface.co/datasets/THUIR/MemoryBench",
                (
                    HuggingFaceFiles(
                        "THUIR/MemoryBench",
                        "memorybench",
                        (
                            f"dataset/{published}/*",
                            *((f"corpus/{published}.jsonl",) if corpus else ()),
                        ),
                    ),
                ),
            ),
        )
        for name, published, corpus in (
            ("locomo", "Locomo-*", True),
            ("dialsim_friends", "DialSim-friends", True),
            ("dialsim_bigbang", "DialSim-bigbang", True),
            ("dialsim_theoffice", "DialSim-theoffice", True),
            ("hellobench_creative", "HelloBench-Creative&Design", False),
            ("writingprompts", "WritingPrompts", False),
            ("writingbench_creative", "WritingBench-Creative&Design", False),
            ("nfcats", "NFCats", False),
            ("judge", "JuDGE", False),
            ("lexeval_summarization", "LexEval-Summarization", False),
            ("lexeval_judge", "LexEval-Judge", False),
            ("lexeval_qa", "LexEval-QA", False),
            ("writingbench_law", "WritingBench-Politics&Law", False),
            ("hellobench_qa", "HelloBench-Academic&Knowledge-QA", False),
            ("hellobench_writing", "HelloBench-Academic&Knowledge-Writing", False),
            ("ideabench", "IdeaBench", False),
            ("scitechnews", "JRE-L", False),
            ("limitgen", "LimitGen-Syn", False),
            ("writingbench_academic", "WritingBench-Academic&Engineering", False),
        )
    ),
)
