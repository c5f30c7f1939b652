"""Small valid files of every published form, with invented content."""

from collections.abc import Callable
from typing import Any

from friendsqa_files import answer, scene
from membench_files import sampled, sessions
from personamem_files import row as personamem_row
from published_forms import PublishedFile, csv_of, inside, json_lines, json_list, parquet, pickled, script


def user(name: str) -> dict[str, Any]:
    """Return an AMemGym user with one variable, one period and one question."""
    options = [
        {"state": ["a"], "answer": "This.", "type": "experience"},
        {"state": ["b"], "answer": "That.", "type": "random"},
    ]
    period = {
        "period_end": "2020-10-01",
        "sessions": [
            {"event": None, "exposed_states": {"v": "a"}, "query": "Hi.", "session_time": "2020-10-01, 09:00"}
        ],
        "state": {"v": "a"},
        "updates": {"v": {"old": None, "new": "a"}},
    }
    return {
        "id": name, "start_time": "2020-10-01", "user_profile": {"name": "Ada", "formatted_str": "name: Ada"},
        "state_schema": {"v": ["a", "b"]}, "periods": [period],
        "qas": [{"query": "What now?", "required_info": ["v"], "answer_choices": options}],
    }  # fmt: skip


def conversation(number: int) -> dict[str, Any]:
    said = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Oh."},
    ]
    return {
        "sample_id": f"t-{number}",
        "conversation": {"speaker_a": "Ann", "speaker_b": "Bo", "session_1_date_time": "May 1", "session_1": said},
        "qa": [{"question": "Who?", "answer": "Bo", "category": 4, "evidence": ["D1:2"]}],
    }  # fmt: skip


def criterion(name: str) -> dict[str, str]:
    levels = dict.fromkeys(("1-2", "3-4", "5-6", "7-8", "9-10"), "Ok.")
    return {"name": name, "criteria_description": "It fits.", **levels}


def memdaily(tid: int) -> dict[str, Any]:
    asked = {
        "question": "几岁?", "answer": "60", "target_step_id": [0], "ground_truth": "A", "time": "2024",
        "choices": {"A": "60", "B": "61", "C": "62", "D": "63"},
    }  # fmt: skip
    said = {"message": "我60岁。", "time": "'2024-04-01 08:00' Monday", "place": "Rome"}
    return {"tid": tid, "message_list": [said], "question_list": [asked]}


def dialogue(number: int) -> dict[str, Any]:
    asked = {"id": "q", "question": "How?", "options": ["by bus", "on foot"], "answer": 1}
    return {"id": f"d{number}", "messages": [{"text": "By bus."}], "questions": [asked]}


def dialsim_scene(number: int) -> dict[str, Any]:
    quiz = {"questions": {"default": f"Who {number}?"}, "answer": "Ann", "options": ["Ann", "Bo"]}
    asked = {"ans_w_time": {1: quiz}}
    return {"date": "May 1, 1994", "script": "Ann: Hi.", "hard_q": {"past": {1: quiz}}, "easy_q": asked}


def lines(record: Callable[[int], Any], count: int = 4) -> list[Any]:
    return [record(number) for number in range(count)]


def session(number: int) -> dict[str, Any]:
    return {"date": "May 1, 1994", "session": number, "text": f"Ann: Word {number}."}


def scene_of(number: int) -> dict[str, Any]:
    said = (("Ann Lee", "I sold the boat ."), ("Bo Orr", "Oh no !"))
    return scene(f"s01_e01_c{number + 1:02}", said, ("What", "What is sold ?", [answer(said, 0, "the boat")]))


SHARED = {"role": "user", "content": "User: I like tea."}
CONTEXT = json_lines([{"c1": [SHARED] * 9}])
LEGAL = {"instruction": "答：", "input": "问题", "answer": "是"}
NEWS = {"sc-title": "T", "sc-abstract": "A.", "pr-title": "P", "pr-summary": "S."}
HELLO = {
    "category": "Sport",
    "instruction": "Write.",
    "formatted_checklists": '[{"checklist_content": "Ok?"}]',
}
CHAT = json_lines([{**HELLO, "id": "c", "category": "science_problem_solve"}])
SCRIPT = script(lines(session))
TARGETS = csv_of("paperId", "title", "abstract")([{"paperId": "p0", "title": "T", "abstract": "A."}])
REFERENCES = csv_of("targetPaperId", "abstract")(
    [{"targetPaperId": f"p{n}", "abstract": "B."} for n in range(4)]
)
UNIFIED = {
    "dataset_name": "JuDGE",
    "lang": "zh",
    "info": '{"golden_answer": "是"}',
    "input_prompt": "案件事实：甲",
}
UNIFIED_TEST = json_lines([{**UNIFIED, "test_idx": 99}])
FILES = (
    PublishedFile(
        "AMemGym users",
        "amemgym_v1_base",
        "amemgym/v1.base/data.json",
        [user(f"u{n}") for n in range(4)],
        ("user_profile", "name"),
        json_list,
        may_be_blank=True,
    ),
    PublishedFile(
        "personas",
        "personas_sample",
        "benchmarks/amemgym/sample/personas.jsonl",
        [{"id": f"p{n}", "name": "Ada", "about": "Reads."} for n in range(4)],
        (),
        json_lines,
        rows=True,
    ),
    PublishedFile(
        "LoCoMo",
        "locomo",
        "locomo/locomo10.json",
        lines(conversation),
        ("conversation", "session_1", 0, "text"),
        json_list,
    ),
    PublishedFile(
        "a LoCoMo question",
        "locomo",
        "locomo/locomo10.json",
        lines(conversation),
        ("qa", 0, "answer"),
        json_list,
    ),
    PublishedFile(
        "a question of LoCoMo for J",
        "locomo10",
        "locomo/locomo10.json",
        lines(conversation),
        ("qa", 0, "answer"),
        json_list,
    ),
    PublishedFile(
        "LexEval",
        "lexeval_qa",
        "lexeval/5_4.json",
        lines(lambda n: {**LEGAL, "input": f"问{n}"}),
        ("answer",),
        json_lines,
        rows=True,
    ),
    PublishedFile(
        "JuDGE",
        "judge",
        "judge/test.json",
        lines(lambda n: {"text_id": f"j{n}", "text": "甲", "fd": "书"}),
        ("fd",),
        json_lines,
        rows=True,
    ),
    PublishedFile(
        "SciTechNews",
        "scitechnews",
        "scitechnews/test.json",
        lines(lambda n: {**NEWS, "sc-title": f"T{n}"}),
        ("pr-summary",),
        json_lines,
        rows=True,
    ),
    PublishedFile(
        "NF-CATS",
        "nfcats",
        "nfcats/test.csv",
        lines(lambda n: {"category": "REASON", "question": f"Why {n}?"}),
        ("question",),
        csv_of("category", "question"),
        rows=True,
    ),
    PublishedFile(
        "IdeaBench targets",
        "ideabench",
        "ideabench/target_papers.csv",
        lines(lambda n: {"paperId": f"p{n}", "title": "T", "abstract": "A."}),
        ("paperId",),
        csv_of("paperId", "title", "abstract"),
        (("ideabench/filtered_references.csv", REFERENCES),),
        rows=True,
    ),
    PublishedFile(
        "IdeaBench references",
        "ideabench",
        "ideabench/filtered_references.csv",
        lines(lambda n: {"targetPaperId": "p0", "abstract": f"B{n}."}),
        ("targetPaperId",),
        csv_of("targetPaperId", "abstract"),
        (("ideabench/target_papers.csv", TARGETS),),
        rows=True,
    ),
    PublishedFile(
        "HelloBench",
        "hellobench_qa",
        "hellobench/open_ended_qa.jsonl",
        lines(lambda n: {**HELLO, "id": f"q{n}"}),
        ("formatted_checklists",),
        json_lines,
        (("hellobench/chat.jsonl", CHAT),),
        rows=True,
    ),
    PublishedFile(
        "WritingBench",
        "writingbench_law",
        "writingbench/benchmark_all.jsonl",
        lines(
            lambda n: {
                "index": n,
                "domain1": "Politics & Law",
                "domain2": "Law",
                "query": f"Q{n}.",
                "checklist": [criterion("Tone")],
            }
        ),
        ("checklist", 0, "5-6"),
        json_lines,
        rows=True,
    ),
    PublishedFile(
        "WritingPrompts",
        "writingprompts",
        "writingprompts/test.parquet",
        lines(lambda n: {"prompt": f"[WP] P{n}.", "story": "S."}),
        ("story",),
        parquet,
    ),
    PublishedFile(
        "a television script",
        "dialsim_friends",
        "dialsim/dialsim_corpus_friends.txt",
        lines(session),
        ("text",),
        script,
        rows=True,
    ),
    PublishedFile(
        "DialSim's fan questions",
        "dialsim_friends",
        "dialsim/friends_dialsim.pickle",
        lines(dialsim_scene),
        ("easy_q", "ans_w_time", 1, "answer"),
        pickled,
        (("dialsim/dialsim_corpus_friends.txt", SCRIPT),),
    ),
    PublishedFile(
        "own fan questions",
        "dialsim_friends",
        "dialsim/friends_questions.json",
        lines(lambda n: {"question": f"Q{n}?", "answer": "A", "date": "May 2"}),
        ("answer",),
        json_list,
        (("dialsim/dialsim_corpus_friends.txt", SCRIPT),),
    ),
    PublishedFile(
        "unified rows",
        "unified_judge",
        "memorybench/dataset/JuDGE/train/data.jsonl",
        lines(lambda n: {**UNIFIED, "test_idx": n}),
        ("info",),
        json_lines,
        (("memorybench/dataset/JuDGE/test/data.jsonl", UNIFIED_TEST),),
        rows=True,
    ),
    PublishedFile(
        "MemBench test data",
        "membench_participation",
        "membench/data2test/0-10k/FirstAgentDataLowLevel_multiple_0.json",
        lines(lambda n: sampled("participation", n)),
        ("message_list", 0, "agent"),
        inside("simple", "roles"),
    ),
    PublishedFile(
        "a MemBench question",
        "membench_participation",
        "membench/data2test/0-10k/FirstAgentDataLowLevel_multiple_0.json",
        lines(lambda n: sampled("participation", n)),
        ("QA", "question"),
        inside("simple", "roles"),
    ),
    PublishedFile(
        "MemBench before sampling",
        "membench_participation_raw",
        "membench/MemData/FirstAgent/simple.json",
        lines(sessions),
        ("message_list",),
        inside("roles"),
    ),
    PublishedFile(
        "MemDaily",
        "memdaily",
        "memdaily/messages_and_QAs/01_simple_roles.json",
        lines(memdaily),
        ("message_list", 0, "message"),
        json_list,
    ),
    PublishedFile(
        "a MemDaily question",
        "memdaily",
        "memdaily/messages_and_QAs/01_simple_roles.json",
        lines(memdaily),
        ("question_list", 0, "answer"),
        json_list,
    ),
    PublishedFile(
        "dialogues",
        "comem_sample",
        "benchmarks/comem/sample/dialogues.json",
        lines(dialogue),
        ("messages", 0, "text"),
        json_list,
    ),
    PublishedFile(
        "PersonaMem questions",
        "personamem_32k",
        "personamem/questions_32k.csv",
        lines(lambda n: personamem_row(f"q{n}")),
        ("correct_answer",),
        csv_of(*personamem_row()),
        (("personamem/shared_contexts_32k.jsonl", CONTEXT),),
        rows=True,
    ),
    PublishedFile(
        "PersonaMem contexts",
        "personamem_32k",
        "personamem/shared_contexts_32k.jsonl",
        lines(lambda n: {f"c{n}": [SHARED]}),
        (),
        json_lines,
        (
            (
                "personamem/questions_32k.csv",
                csv_of(*personamem_row())([personamem_row(end_index_in_shared_context=1)]),
            ),
        ),
        rows=True,
    ),
    PublishedFile(
        "FriendsQA", "friendsqa", "friendsqa/friendsqa_dev.json", lines(scene_of), ("title",), inside("data")
    ),
    PublishedFile(
        "a FriendsQA question",
        "friendsqa",
        "friendsqa/friendsqa_dev.json",
        lines(scene_of),
        ("paragraphs", 0, "qas", 0, "answers", 0, "answer_text"),
        inside("data"),
    ),
    PublishedFile(
        "DialSim scenes in CoMem",
        "comem_friends",
        "dialsim/friends_dialsim.pickle",
        lines(dialsim_scene),
        ("date",),
        pickled,
    ),
    PublishedFile(
        "a DialSim question in CoMem",
        "comem_friends",
        "dialsim/friends_dialsim.pickle",
        lines(dialsim_scene),
        ("hard_q", "past", 1, "answer"),
        pickled,
        may_be_blank=True,
    ),
)
"""A file of each form that memflow reads. Recorded runs, rating tables and LimitGen have tests of their own."""
