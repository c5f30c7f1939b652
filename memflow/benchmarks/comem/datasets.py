"""CoMem's data sets: the sources of its contexts, and dialogues written for memflow."""

from memflow.benchmarks.amemgym.datasets import BASE_DOWNLOAD
from memflow.benchmarks.datasets import Dataset, Defect
from memflow.benchmarks.origins import Download, github_file, hugging_face_file
from memflow.benchmarks.tv_scripts import SCRIPT_DEFECTS, SCRIPT_DOWNLOADS, SHOWS

_FRIENDSQA = ("emorynlp/FriendsQA", "9ce6c98a6acf13c87d96b6811e4409b5de43bdfe")
_FRIENDSQA_FILES = (
    ("trn", "", None),
    ("dev", "3a85d3fcb175589ffd050fb4bf431da77a6e12589c8ec03f1d54060ce33ec703", 1_956_720),
    ("tst", "a98f24d4b04ac9f8d9468088febf304bd90eada134537277c1a425e31c0372bc", 1_842_820),
)
_PERSONAMEM = {
    "questions_32k.csv": ("cccd34cf53e0bc4d9536c04cff5ca045156d9a4e227e83327112482840bbc93c", 1_305_366),
    "shared_contexts_32k.jsonl": (
        "217247ebfec9e8442fc53570c795ab69f21aad08745f7de78d9beab51b122d4a",
        5_613_210,
    ),
}

DATASETS = (
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
        counts={"scenes": 1_222},
        partial=True,
        download=Download(
            "https://github.com/emorynlp/FriendsQA",
            tuple(
                github_file(
                    *_FRIENDSQA,
                    f"dat/friendsqa_{part}.json",
                    f"friendsqa/friendsqa_{part}.json",
                    sha256,
                    size,
                )
                for part, sha256, size in _FRIENDSQA_FILES
            ),
        ),
    ),
    Dataset(
        "comem_amemgym",
        "AMemGym v1.base as contexts of CoMem",
        "comem",
        ("amemgym/v1.base/data.json",),
        "CC-BY-4.0",
        "Hugging Face dataset AGI-Eval/AMemGym",
        "Download v1.base/data.json of AGI-Eval/AMemGym to amemgym/v1.base/data.json in the data folder.",
        counts={"users": 20},
        partial=True,
        download=BASE_DOWNLOAD,
    ),
    *(
        Dataset(
            f"personamem_{size.lower()}",
            f"PersonaMem, {size} tokens: {questions:,} questions on {contexts} dialogues of users and an assistant",
            "comem",
            (f"personamem/questions_{size}.csv", f"personamem/shared_contexts_{size}.jsonl"),
            "not verified",
            "Hugging Face dataset bowen-upenn/PersonaMem",
            f"Download questions_{size}.csv and shared_contexts_{size}.jsonl of bowen-upenn/PersonaMem (now "
            "PersonaMem-v1) to personamem/ in the data folder; some of the contexts will do for a part.",
            counts={"questions": questions, "contexts": published},
            defects=defects,
            partial=True,
            download=Download(
                "https://huggingface.co/datasets/bowen-upenn/PersonaMem-v1",
                tuple(
                    hugging_face_file(
                        "bowen-upenn/PersonaMem-v1", name, f"personamem/{name}", *_PERSONAMEM.get(name, ())
                    )
                    for name in (f"questions_{size}.csv", f"shared_contexts_{size}.jsonl")
                ),
            ),
        )
        for size, questions, contexts, published, defects in (
            (
                "32k",
                589,
                37,
                37,
                (Defect("questions whose gold option occurs twice", "its gold option occurs", 17),),
            ),
            ("128k", 2_727, 60, 110, ()),
            ("1M", 2_674, 31, 31, ()),
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
            defects=SCRIPT_DEFECTS.get(show, ()),
            download=SCRIPT_DOWNLOADS[show],
        )
        for show, title, sums in SHOWS
    ),
)
