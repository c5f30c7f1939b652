"""AMemGym's data sets: the published users, recorded runs, and personas of memflow."""

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import Download, github_archive, hugging_face_file

BASE_FILE = "amemgym/v1.base/data.json"
BASE_SHA256 = "a63f731508a60104bc27676926134ac4d889fb143141fb4634176f0905fb659a"
BASE_DOWNLOAD = Download(
    "https://huggingface.co/datasets/AGI-Eval/AMemGym",
    (hugging_face_file("AGI-Eval/AMemGym", "v1.base/data.json", BASE_FILE, BASE_SHA256),),
)
"""The published users, which AMemGym and CoMem read."""
_RUNS = ("NALLAMOTURENU/AMemGym_MultiLingual", "01e637c547bb90fa78ecc95bb1085a0feb1f122e")

DATASETS = (
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
        (BASE_FILE,),
        "CC-BY-4.0",
        "Hugging Face dataset AGI-Eval/AMemGym",
        "Download v1.base/data.json of AGI-Eval/AMemGym to amemgym/v1.base/data.json in the data folder.",
        {BASE_FILE: BASE_SHA256},
        partial=True,
        counts={"users": 20, "questions": 200},
        download=BASE_DOWNLOAD,
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
    *(
        Dataset(
            f"amemgym_recorded_{agent}",
            f"A recorded run of AMemGym's published code: dialogues and results of {words} with qwen-14b",
            "amemgym",
            tuple(
                f"amemgym_runs/{agent}/*/{name}"
                for name in ("overall_results.json", "diagnosis_results.json", "interactions/period_*.json")
            ),
            "MIT",
            "GitHub NALLAMOTURENU/AMemGym_MultiLingual, commit 01e637c, eval-output/v1.base",
            f"Copy the folders of users in eval-output/v1.base/{agent}/qwen-14b-{agent} to amemgym_runs/{agent} in the "
            "data folder.",
            instead={
                f"amemgym_runs/{agent}/*/interactions/period_*.json": (
                    f"amemgym_runs/{agent}/*/interactions_by_period.json",
                )
            },
            download=Download(
                f"https://github.com/{_RUNS[0]}",
                (
                    github_archive(
                        *_RUNS,
                        {f"eval-output/v1.base/{agent}/qwen-14b-{agent}/": f"amemgym_runs/{agent}/"},
                        (
                            "*/overall_results.json",
                            "*/diagnosis_results.json",
                            "*/interactions/period_*.json",
                        ),
                    ),
                ),
            ),
        )
        for agent, words in (("native", "the native LLM"), ("awi", "AWI"))
    ),
)
