"""The tasks of MemoryBench (paper, Tables 2, 8 and 9), and the tasks of our sample."""

from memflow.benchmarks.memorybench.tasks.task import Task
from memflow.errors import BadInput

LOCOMO_F1 = "locomo_f1"
ACCURACY = "accuracy"
ROUGE_L = "rouge_l"
METEOR = "meteor"
CHECKLIST = "checklist"
CRITERIA = "criteria"
QUALITY = "quality"
RATING = "rating"
INTEGRATED = "integrated"
"""A score from 1 to 10 that a judge merges from several measures (A.1.2)."""

_LEGAL_MEASURES = (
    "reasoning_meteor", "judgment_meteor", "reasoning_bertscore", "judgment_bertscore", "charge_recall",
    "charge_precision", "statute_recall", "statute_precision", "time", "fine",
)  # fmt: skip

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("locomo", "Locomo", "open", "LiSo", LOCOMO_F1, sample=25, prompt="locomo"),
        Task("dialsim_friends", "DialSim-friends", "open", "LiSo", ACCURACY, sample=83, prompt="dialsim"),
        Task("dialsim_bigbang", "DialSim-bigbang", "open", "LiSo", ACCURACY, sample=83, prompt="dialsim"),
        Task("dialsim_theoffice", "DialSim-theoffice", "open", "LiSo", ACCURACY, sample=84, prompt="dialsim"),
        Task("hellobench_creative", "HelloBench-Creative&Design", "open", "LiLo", CHECKLIST, stratified=True),
        Task("writingprompts", "WritingPrompts", "open", "SiLo", METEOR, prompt="writingprompts"),
        Task("writingbench_creative", "WritingBench-Creative&Design", "open", "LiLo", CRITERIA, stratified=True),
        Task("nfcats", "NFCats", "open", "SiSo", QUALITY, prompt="nfcats"),
        Task("judge", "JuDGE", "legal", "SiLo", INTEGRATED, _LEGAL_MEASURES, prompt="judge"),
        Task("lexeval_summarization", "LexEval-Summarization", "legal", "LiSo", ROUGE_L),
        Task("lexeval_judge", "LexEval-Judge", "legal", "LiLo", ROUGE_L),
        Task("lexeval_qa", "LexEval-QA", "legal", "SiSo", ROUGE_L),
        Task("writingbench_law", "WritingBench-Politics&Law", "legal", "LiLo", CRITERIA, stratified=True),
        Task("hellobench_qa", "HelloBench-Academic&Knowledge-QA", "academic", "SiLo", CHECKLIST, stratified=True),
        Task(
            "hellobench_writing", "HelloBench-Academic&Knowledge-Writing", "academic", "LiLo", CHECKLIST,
            stratified=True,
        ),
        Task(
            "ideabench", "IdeaBench", "academic", "LiSo", INTEGRATED,
            ("bertscore", "llm_rating", "novelty_rank", "feasibility_rank"), prompt="ideabench",
        ),
        Task(
            "scitechnews", "JRE-L", "academic", "SiSo", INTEGRATED,
            ("rouge_l", "bertscore", "cli", "fkgl", "dcrs"), prompt="scitechnews",
        ),
        Task("limitgen", "LimitGen-Syn", "academic", "LiSo", RATING, ("accuracy",), prompt="limitgen"),
        Task(
            "writingbench_academic", "WritingBench-Academic&Engineering", "academic", "LiLo", CRITERIA,
            stratified=True,
        ),
        Task("memorybench_sample", "sample", "open", "LiSo", LOCOMO_F1, sample=0, prompt="locomo"),
        Task("sample_open", "sample-open", "open", "SiLo", ROUGE_L, sample=0),
        Task("sample_legal", "sample-legal", "legal", "SiSo", ROUGE_L, sample=0),
        Task("sample_academic", "sample-academic", "academic", "SiSo", ROUGE_L, sample=0),
        Task("sample_checklist", "sample-checklist", "open", "SiLo", CHECKLIST, sample=0),
        Task("sample_quality", "sample-quality", "open", "SiSo", QUALITY, sample=0),
    )
}  # fmt: skip

PRIMARY = frozenset(each.metric for each in TASKS.values())
"""The metrics that score cases."""


def task(name: str) -> Task:
    """Return the task with this name. Raises BadInput with the list of known tasks."""
    if name not in TASKS:
        raise BadInput(f"MemoryBench has no task {name!r}; use one of {', '.join(TASKS)}")
    return TASKS[name]


def tasks_of(dataset: str) -> list[Task]:
    """Return the tasks of a data set; only our sample has several tasks. Raises BadInput with the known data sets."""
    own = [each for each in TASKS.values() if each.name.startswith("sample_")]
    return [task(dataset), *(own if dataset == "memorybench_sample" else ())]
