"""MemBench's data sets: its test data and noise, MemDaily, and the sources of generated user graphs."""

from memflow.benchmarks.datasets import Dataset, Defect
from memflow.benchmarks.membench import memdaily_files
from memflow.benchmarks.origins import Download, RemoteArchive, RemoteFile, github_file

_MOVIELENS = "https://files.grouplens.org/datasets/movielens"
_GOODREADS = "https://mcauleylab.ucsd.edu/public_datasets/gdrive/goodreads"
_MEMBENCH = ("import-myself/Membench", "04956796150992cc6fbffef51c53f541376bf0f6")
_MEMBENCH_PAGE = "https://github.com/import-myself/Membench"
_KINDS = (
    "aggregative",
    "comparative",
    "conditional",
    "highlevel",
    "knowledge_update",
    "noisy",
    "post_processing",
    "simple",
)
"""The files of both scenes; participation has three more."""

DATASETS = (
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
        download=Download(
            "https://grouplens.org/datasets/movielens/latest/",
            (
                RemoteArchive(
                    f"{_MOVIELENS}/ml-latest-small.zip",
                    {"ratings.csv": "movielens/ratings.csv", "movies.csv": "movielens/movies.csv"},
                    "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
                    strip=1,
                ),
            ),
        ),
    ),
    Dataset(
        "movielens_100k",
        "MovieLens 100K: which kinds of films people like",
        "membench",
        ("movielens_100k/u.data", "movielens_100k/u.item", "movielens_100k/u.genre"),
        "GroupLens' own: no redistribution, no commercial use without permission",
        "GroupLens, files.grouplens.org/datasets/movielens",
        "Copy u.data, u.item and u.genre of ml-100k.zip to movielens_100k/ in the data folder.",
        download=Download(
            "https://grouplens.org/datasets/movielens/100k/",
            (
                RemoteArchive(
                    f"{_MOVIELENS}/ml-100k.zip",
                    {name: f"movielens_100k/{name}" for name in ("u.data", "u.item", "u.genre")},
                    "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
                    strip=1,
                ),
            ),
        ),
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
        download=Download(
            "https://cseweb.ucsd.edu/~jmcauley/datasets/goodreads.html",
            tuple(
                RemoteFile(f"{_GOODREADS}/{name}", f"goodreads/{name}")
                for name in (
                    "book_id_map.csv",
                    "goodreads_book_genres_initial.json.gz",
                    "goodreads_books.json.gz",
                    "goodreads_interactions.csv",
                )
            ),
        ),
    ),
    *(
        Dataset(
            f"membench_{scene}{name}",
            f"MemBench's test data, {scene}{words}: {count:,} trajectories with a question each",
            "membench",
            tuple(
                f"membench/data2test/{folder}/{agent}AgentData{level}Level_multiple_{units}.json"
                for level in ("Low", "High")
            ),
            "MIT, by a badge alone",
            "GitHub import-myself/Membench",
            "Unpack the archive on Google Drive to which the README of import-myself/Membench leads, and copy its "
            f"data2test/{folder}/ to membench/data2test/{folder}/ in the data folder.",
            counts={"trajectories": count},
        )
        for name, folder, units, words, counts in (
            ("", "0-10k", 0, "", (1_600, 1_800)),
            ("_100k", "100k", 100, ", lengthened by noise", (500, 360)),
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
            partial=True,
            instead={
                f"membench/MemData/{agent}Agent/*.json": (f"membench/data/{agent}AgentData*Level.json",)
            },
            download=Download(
                _MEMBENCH_PAGE,
                tuple(
                    github_file(
                        *_MEMBENCH,
                        f"MemData/{agent}Agent/{kind}.json",
                        f"membench/MemData/{agent}Agent/{kind}.json",
                    )
                    for kind in (*_KINDS, *more)
                ),
            ),
        )
        for scene, agent, more in (
            ("participation", "First", ("RecMultiSession", "highlevel_rec", "lowlevel_rec")),
            ("observation", "Third", ()),
        )
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
        download=Download(
            _MEMBENCH_PAGE,
            tuple(
                github_file(*_MEMBENCH, f"MakeNoise/NoiseMeta/{name}", f"membench/MakeNoise/NoiseMeta/{name}")
                for name in ("messagenoise_new.json", "sessionnoise_new.json")
            ),
        ),
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
        counts={"trajectories": 3_000, "steps": 26_531},
        defects=(
            Defect("questions that the authors' code failed to generate", "its makers failed at it", 35),
            Defect("such questions with a null as answer", "at answer", 11),
            Defect("questions with two equal options", "say the same", 7),
        ),
        partial=True,
        download=memdaily_files.DOWNLOAD,
    ),
)
