"""The vocabulary of the scripted simulator, in English and Chinese. scripted_reading.py matches its patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memflow.chat.requests import ChatRequest


@dataclass(frozen=True)
class ScriptVocabulary:
    """The vocabulary of one language. Patterns contain {variable}, {value} and {old}."""

    topics: Mapping[str, str]
    """Topics and their questions."""
    further: str
    further_question: str
    """Pattern of further topics and their question, if there are more questions than topics."""
    aspects: Mapping[str, Sequence[str]]
    """Aspects that answers depend on, and their values."""
    name: str
    """Pattern of a variable's name: {topic}, {aspect}."""
    both: str
    """Pattern of the topic of a merged variable: {one}, {other}."""
    names: Sequence[str]
    occasions: Sequence[str]
    summary: str
    event: str
    move: str
    moves: str
    told: Sequence[str]
    told_after: str
    asked: Sequence[str]
    next: Sequence[str]
    replies: Sequence[str]
    circumstance: str
    circumstances: str
    """Separator of circumstances."""
    advice: str
    space: str
    """Separator of sentences."""


EN = ScriptVocabulary(
    topics={
        "cooking": "What could I cook this week?",
        "running": "How should I plan my next runs?",
        "reading": "Which book should I take up next?",
        "gardening": "What should I do in the garden this month?",
        "travel": "Where could I go on my next trip?",
        "music": "How should I practise my instrument?",
        "language": "How do I get on with the language I am learning?",
        "photography": "What could I photograph next?",
        "sewing": "Which piece should I sew next?",
        "cycling": "Which route should I ride next?",
        "painting": "What could I paint next?",
        "hosting": "How should I set up the next evening with guests?",
    },
    further="project {number}",
    further_question="How should I go on with my {topic}?",
    aspects={
        "company": [
            "alone",
            "one_close_friend",
            "my_whole_family",
            "a_club",
            "two_colleagues",
            "a_neighbour",
        ],
        "budget": ["very_tight", "moderate", "generous", "shared_by_all", "paid_by_others", "saved_up"],
        "time": [
            "early_mornings",
            "lunch_breaks",
            "late_evenings",
            "whole_weekends",
            "school_holidays",
            "rainy_days",
        ],
        "level": [
            "first_steps",
            "some_practice",
            "long_experience",
            "nearly_expert",
            "starting_over",
            "teaching_others",
        ],
    },
    name="{topic}_{aspect}",
    both="{one}_and_{other}",
    names=["Ada Berg", "Luis Ferrer", "Maya Singh", "Tom Hill"],
    occasions=[
        "a new rota at work",
        "a visit from relatives",
        "a move within the town",
        "a long cold",
        "a surprise gift",
    ],
    summary="Months that were marked by {occasion}.",
    event="After {occasion} some things are different, {moves}.",
    move="{variable}: {value}",
    moves="; ",
    told=[
        "These days my {variable} is {value}.",
        "With me, {value} it is now as to my {variable}.",
        "As for my {variable}, I have settled on {value}.",
    ],
    told_after="My {variable} is no longer {old} but {value}.",
    asked=[
        "What would you suggest?",
        "Have you an idea for me?",
        "Where would you begin?",
        "Can you help me plan?",
    ],
    next=[
        "Thank you. Could you say a little more about the first step?",
        "That helps. What should I look out for?",
        "Good to know. How long would that take me?",
    ],
    replies=[
        "Gladly. I would begin with something small and see how it goes.",
        "Here is a thought: choose one thing, try it twice, and then decide.",
        "Of course. Let us take it step by step, with the easiest part first.",
    ],
    circumstance="your {variable} is {value}",
    circumstances=" and ",
    advice="Since {circumstances}, choose what suits just that and leave the rest for later.",
    space=" ",
)

ZH = ScriptVocabulary(
    topics={
        "做饭": "这周我可以做些什么菜？",
        "跑步": "接下来的跑步我该怎么安排？",
        "读书": "我接下来该读哪本书？",
        "园艺": "这个月园子里该做些什么？",
        "旅行": "下次旅行我可以去哪里？",
        "音乐": "我该怎么练习乐器？",
        "外语": "我正在学的外语该怎么继续？",
        "摄影": "我接下来可以拍些什么？",
        "缝纫": "我接下来该缝哪一件？",
        "骑行": "我接下来该骑哪条路线？",
        "绘画": "我接下来可以画些什么？",
        "请客": "下次请客的晚上该怎么布置？",
    },
    further="项目{number}",
    further_question="我的{topic}该怎么继续？",
    aspects={
        "同伴": ["独自一人", "一位好友", "全家人", "一个社团", "两位同事", "一个邻居"],
        "预算": ["非常紧", "中等", "宽裕", "大家分摊", "别人出钱", "专门攒的"],
        "时间": ["清早", "午休", "深夜", "整个周末", "学校假期", "下雨天"],
        "水平": ["刚刚入门", "略有练习", "经验丰富", "接近专家", "从头再来", "教别人"],
    },
    name="{topic}{aspect}",
    both="{one}和{other}",
    names=["林若安", "陈思齐", "周明远", "何小满"],
    occasions=["单位换了班次", "亲戚来访", "在城里搬了家", "一场久病", "一份意外的礼物"],
    summary="这几个月里最要紧的是{occasion}。",
    event="{occasion}之后，有些事不同了：{moves}。",
    move="{variable}：{value}",
    moves="、",
    told=[
        "最近我的{variable}是{value}。",
        "说到我的{variable}，现在是{value}。",
        "我的{variable}定下来了，就是{value}。",
    ],
    told_after="我的{variable}不再是{old}，而是{value}。",
    asked=["你有什么建议？", "能给我出个主意吗？", "你会从哪里开始？", "能帮我安排一下吗？"],
    next=["谢谢。第一步能再说详细些吗？", "有用。我该留意什么？", "明白了。那要花多长时间？"],
    replies=[
        "好的。我会先从一件小事做起，看看效果。",
        "有个想法：选一样，试两次，再做决定。",
        "当然。我们一步一步来，先做最容易的。",
    ],
    circumstance="你的{variable}是{value}",
    circumstances="，",
    advice="既然{circumstances}，就选正好合适的，其余的以后再说。",
    space="",
)


def vocabulary_of(request: ChatRequest) -> ScriptVocabulary:
    """Return the vocabulary of the request's language."""
    return ZH if request.prompt.endswith("_zh") else EN
