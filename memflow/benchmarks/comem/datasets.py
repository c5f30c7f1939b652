"""CoMem's data sets: the sources of its contexts, and dialogues written for memflow."""

from memflow.benchmarks.datasets import Dataset, Defect
from memflow.benchmarks.origins import Download, hugging_face_file
from memflow.benchmarks.tv_scripts import SCRIPT_DEFECTS, SCRIPT_DOWNLOADS, SHOWS

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
