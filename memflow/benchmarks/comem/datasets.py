"""CoMem's data sets: the sources of its contexts, and dialogues that we wrote."""

from memflow.benchmarks.datasets import Dataset, Defect
from memflow.benchmarks.tv_scripts import SCRIPT_DEFECTS, SHOWS

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
        )
        for show, title, sums in SHOWS
    ),
)
