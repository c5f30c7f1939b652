"""MemBench's data sets: its test data and noise, MemDaily, and the sources of generated user graphs."""

import json
from importlib.resources import files

from memflow.benchmarks.datasets import Dataset, Defect
from memflow.benchmarks.origins import Download, github_file

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
_MEMDAILY = ("nuster1128/MemSim", "db9d5d552d6cb1d859f692eb7e6c0fd6d61d3815")
_MEMDAILY_FILES = json.loads(
    files("memflow.benchmarks.membench").joinpath("memdaily_files.json").read_text(encoding="utf-8")
)
"""The checksum and size of each file of MemDaily."""

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
        "memdaily/messages_and_QAs/ in the data folder; some of the files will do for a part.",
        counts={"trajectories": 3_000, "steps": 26_531},
        defects=(
            Defect("questions that the authors' code failed to generate", "its makers failed at it", 35),
            Defect("such questions with a null as answer", "at answer", 11),
            Defect("questions with two equal options", "say the same", 7),
        ),
        partial=True,
        download=Download(
            f"https://github.com/{_MEMDAILY[0]}",
            tuple(
                github_file(
                    *_MEMDAILY,
                    f"data_generation/final_dataset/messages_and_QAs/{name}",
                    f"memdaily/messages_and_QAs/{name}",
                    *known,
                )
                for name, known in _MEMDAILY_FILES.items()
            ),
        ),
    ),
)
