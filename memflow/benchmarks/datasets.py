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


_LEXEVAL_QA = "18914ec0f990911ce74c4230533788d7e368515336ed2ba7230a9cf9b40d5f88"
_FRIENDS = {
    "dialsim/dialsim_corpus_friends.txt": "a54c78565e5f22df0f1cf65222661bc554212eaccb493d6a145acc4b77dee7c4"
}
_SHOWS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("friends", "Friends", _FRIENDS),
    ("bigbang", "The Big Bang Theory", {}),
    ("theoffice", "The Office", {}),
)
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
                f"leads; questions of your own go into {show}_questions.json (docs/explanation/memorybench.md).",
                sums,
                (f"dialsim/{show}_dialsim.pickle",),
                {f"dialsim/{show}_dialsim.pickle": (f"dialsim/{show}_questions.json",)},
            )
            for show, title, sums in _SHOWS
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
        *(
            Dataset(
                f"lexeval_{name}",
                f"LexEval {part.replace('_', '-')}: {count} Chinese legal {what}",
                "memorybench",
                (f"lexeval/{part}.json",),
                "MIT",
                "GitHub CSHaitao/LexEval",
                f"Copy data/{part}.json of CSHaitao/LexEval to lexeval/ in the data folder.",
                sums,
            )
            for name, part, count, what, sums in (
                ("summarization", "5_1", "1,000", "texts to sum up", {}),
                ("judge", "5_2", "1,000", "cases to analyse", {}),
                ("qa", "5_4", "500", "open questions", {"lexeval/5_4.json": _LEXEVAL_QA}),
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
            optional=("judge/train.json",),
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
        ),
        Dataset(
            "scitechnews",
            "SciTechNews: 1,000 papers and what press releases made of them",
            "memorybench",
            ("scitechnews/test.json",),
            "none stated",
            "Hugging Face dataset ronaldahmed/scitechnews",
            "Download test.json of ronaldahmed/scitechnews to scitechnews/test.json in the data folder.",
        ),
        Dataset(
            "limitgen",
            "LimitGen-Syn: 1,000 papers, each with one of 11 kinds of limitation put into it",
            "memorybench",
            ("limitgen_syn/annotated/*/*.json", "limitgen_syn/sections/*.json"),
            "none stated",
            "GitHub yale-nlp/LimitGen",
            "Copy annotated/ and sections/ below data/syn of yale-nlp/LimitGen to limitgen_syn/ in the data folder.",
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
        *(
            Dataset(
                f"lives_{language}",
                f"Words and likes of our own writing, {words}, from which users' lives are drawn",
                "membench",
                (
                    f"benchmarks/membench/sample/vocabulary_{language}.yaml",
                    f"benchmarks/membench/sample/preferences_{language}.yaml",
                ),
                "Apache-2.0",
                "memflow",
                "It ships with memflow.",
                ships=True,
            )
            for language, words in (("en", "English"), ("zh", "Chinese"))
        ),
        Dataset(
            "movielens",
            "MovieLens in its later form (latest, 20M, 25M, 32M): which kinds of films people like",
            "membench",
            ("movielens/ratings.csv", "movielens/movies.csv"),
            "GroupLens' own: no redistribution, no commercial use without permission",
            "GroupLens, files.grouplens.org/datasets/movielens",
            "Copy ratings.csv and movies.csv of ml-latest-small.zip, or of a larger one, to movielens/ in the data "
            "folder.",
        ),
        Dataset(
            "movielens_100k",
            "MovieLens 100K: which kinds of films people like",
            "membench",
            ("movielens_100k/u.data", "movielens_100k/u.item", "movielens_100k/u.genre"),
            "GroupLens' own: no redistribution, no commercial use without permission",
            "GroupLens, files.grouplens.org/datasets/movielens",
            "Copy u.data, u.item and u.genre of ml-100k.zip to movielens_100k/ in the data folder.",
        ),
        Dataset(
            "foodcom",
            "Food.com: which tastes people like",
            "membench",
            ("foodcom/RAW_interactions.csv", "foodcom/RAW_recipes.csv"),
            "as Kaggle's page of it states",
            "Kaggle shuyangli94/food-com-recipes-and-user-interactions",
            "Copy RAW_interactions.csv and RAW_recipes.csv of shuyangli94/food-com-recipes-and-user-interactions to "
            "foodcom/ in the data folder.",
        ),
        Dataset(
            "goodreads",
            "Goodreads: which kinds of books people like",
            "membench",
            (
                "goodreads/goodreads_interactions*",
                "goodreads/goodreads_book_genres_initial.json*",
                "goodreads/goodreads_books*",
            ),
            "none stated; for academic use",
            "UCSD Book Graph, cseweb.ucsd.edu/~jmcauley/datasets/goodreads.html",
            "Copy goodreads_interactions_dedup.json.gz, or goodreads_interactions.csv with book_id_map.csv, and "
            "goodreads_book_genres_initial.json.gz and goodreads_books.json.gz to goodreads/ in the data folder, as "
            "they are or unpacked.",
            optional=("goodreads/book_id_map.csv",),
        ),
        *(
            Dataset(
                f"membench_{scene}{name}",
                f"MemBench's test data, {scene}{words}: {count} trajectories with a question each",
                "membench",
                tuple(
                    f"membench/data2test/{folder}/{agent}AgentData{level}Level_multiple_{units}.json"
                    for level in ("Low", "High")
                ),
                "MIT, by a badge alone",
                "GitHub import-myself/Membench",
                "Unpack the archive on Google Drive to which the README of import-myself/Membench leads, and copy its "
                f"data2test/{folder}/ to membench/data2test/{folder}/ in the data folder.",
            )
            for name, folder, units, words, counts in (
                ("", "0-10k", 0, "", ("1,600", "1,800")),
                ("_100k", "100k", 100, ", lengthened by noise", ("500", "360")),
            )
            for (scene, agent), count in zip(
                (("participation", "First"), ("observation", "Third")), counts, strict=True
            )
        ),
        *(
            Dataset(
                f"membench_{scene}_raw",
                f"MemBench before sampling, {scene}: a file for each kind of question",
                "membench",
                (f"membench/MemData/{agent}Agent/*.json",),
                "MIT, by a badge alone",
                "GitHub import-myself/Membench",
                f"Copy MemData/{agent}Agent/ of import-myself/Membench to membench/MemData/{agent}Agent/ in the data "
                "folder; some of its files will do for a part.",
                instead={
                    f"membench/MemData/{agent}Agent/*.json": (f"membench/data/{agent}AgentData*Level.json",)
                },
            )
            for scene, agent in (("participation", "First"), ("observation", "Third"))
        ),
        Dataset(
            "membench_noise",
            "MemBench's noise: talk about nothing that is asked, rounds and messages",
            "membench",
            (
                "membench/MakeNoise/NoiseMeta/messagenoise_new.json",
                "membench/MakeNoise/NoiseMeta/sessionnoise_new.json",
            ),
            "MIT, by a badge alone",
            "GitHub import-myself/Membench",
            "Copy MakeNoise/NoiseMeta/ of import-myself/Membench to membench/MakeNoise/NoiseMeta/ in the data folder.",
        ),
        Dataset(
            "memdaily",
            "MemDaily: what Chinese users tell of their lives, and questions about it",
            "membench",
            ("memdaily/messages_and_QAs/*.json",),
            "none stated",
            "GitHub nuster1128/MemSim",
            "Copy the files of its question types, such as 01_simple_roles.json, from nuster1128/MemSim to "
            "memdaily/messages_and_QAs/ in the data folder, and graphs.json, its users, to memdaily/; some of the "
            "files will do for a part.",
            optional=("memdaily/graphs.json",),
        ),
        Dataset(
            "comem_sample",
            "Dialogues of two and of many, of our own writing, for comem_demo",
            "comem",
            ("benchmarks/comem/sample/dialogues.json",),
            "Apache-2.0",
            "memflow",
            "It ships with memflow.",
            ships=True,
        ),
        Dataset(
            "friendsqa",
            "FriendsQA: scenes of four seasons of a series, with questions about each",
            "comem",
            ("friendsqa/friendsqa_*.json",),
            "Apache-2.0",
            "GitHub emorynlp/FriendsQA",
            "Copy friendsqa_trn.json, friendsqa_dev.json and friendsqa_tst.json from dat/ of emorynlp/FriendsQA to "
            "friendsqa/ in the data folder; one of them will do for a part.",
        ),
        Dataset(
            "comem_amemgym",
            "AMemGym v1.base as contexts of CoMem",
            "comem",
            ("amemgym/v1.base/data.json",),
            "CC-BY-4.0",
            "Hugging Face dataset AGI-Eval/AMemGym",
            "Download v1.base/data.json of AGI-Eval/AMemGym to amemgym/v1.base/data.json in the data folder.",
        ),
        *(
            Dataset(
                f"personamem_{size.lower()}",
                f"PersonaMem, {size} tokens: {questions} questions on {contexts} dialogues of users and an assistant",
                "comem",
                (f"personamem/questions_{size}.csv", f"personamem/shared_contexts_{size}.jsonl"),
                "not verified",
                "Hugging Face dataset bowen-upenn/PersonaMem",
                f"Download questions_{size}.csv and shared_contexts_{size}.jsonl of bowen-upenn/PersonaMem (now "
                "PersonaMem-v1) to personamem/ in the data folder; some of the contexts will do for a part.",
            )
            for size, questions, contexts in (
                ("32k", "589", "37"),
                ("128k", "2,727", "60"),
                ("1M", "2,674", "31"),
            )
        ),
        *(
            Dataset(
                f"comem_{show}",
                f"DialSim, {title}: a show's scenes with their questions, or its script alone",
                "comem",
                (f"dialsim/{show}_dialsim.pickle",),
                "none: third-party scripts, for local use only",
                "DialSim v1.1, GitHub jiho283/Simulator; the script alone: GitHub LittleDinoC/MemoryBench-code",
                f"Copy {show}_dialsim.pickle from dialsim_v1.1.zip, to which jiho283/Simulator leads, to dialsim/ in "
                f"the data folder; raw/DialSim/dialsim_corpus_{show}.txt of LittleDinoC/MemoryBench-code will do for "
                "questions by rule.",
                sums,
                instead={f"dialsim/{show}_dialsim.pickle": (f"dialsim/dialsim_corpus_{show}.txt",)},
            )
            for show, title, sums in _SHOWS
        ),
    )
}


def dataset(name: str, known: Mapping[str, Dataset] = DATASETS) -> Dataset:
    """The data set of that name. Raises BadInput naming those there are."""
    if name not in known:
        raise BadInput(f"there is no data set {name!r}; there are {', '.join(known)}")
    return known[name]
