"""CPU seconds of scoring 100,000 responses of about 200 words with text metrics, sequentially on one core.

Eight assistants answer 12,500 questions, assistant by assistant, so that only the metrics' own caches help. Texts are
drawn from a seed. Drawing is not measured; splitting into words is. The peers score the first of the same pairs: nltk's
Porter stemmer as in LoCoMo's evaluation, rouge-score, the package `rouge` after jieba as in LexEval's evaluation, and
nltk's meteor_score on its own tokens. METEOR with WordNet is measured if MEMFLOW_WORDNET names its folder. It has no
peer, since nltk reads WordNet differently.

The command prints one JSON line per metric, and its exit code is 1 if a score differs from the peer's, or a bound is
missed. The bounds in seconds were estimated from the speed of the libraries before the implementation.
"""

import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

from bench.measure import cpu_seconds, report
from bench.metrics_text import add_noise, draw_text, published_f1, vocabulary
from memflow.metrics.meteor import meteor
from memflow.metrics.text import locomo_f1, rouge_l

QUESTIONS, ASSISTANTS = 12_500, 8
PEER_PAIRS = 100
CHINESE = (
    "被告人 原告 被告 公司 合同 法院 判决 上诉 一审 二审 证据 事实 清楚 本院 认为 依照 中华人民共和国 "
    "刑法 民法典 第二百 第一款 规定 判处 有期徒刑 缓刑 罚金 人民币 五千元 盗窃罪 诈骗罪 故意 伤害 自首 "
    "坦白 从轻 处罚 赔偿 损失 责任 当事人 权利 义务 履行 解除 违约金 利息 借款 抵押 担保 债权 债务 房屋 "
    "买卖 租赁 股东 股权 转让 董事会 决议 有效 无效 撤销 申请 执行 异议 管辖 起诉 期限 应当 可以 不得 "
    "因此 但是 如果 根据 以及 其他 的 在 对 和 与 将 于 由 向 并"
)

Pair = tuple[str, str]
Metric = Callable[[str, str], float]


@dataclass
class MetricBenchmark:
    """A metric, its reference implementation (the peer), the limits of its CPU time, and the measured times."""

    name: str
    language: str
    ours: Metric
    bound: float
    """CPU seconds for all."""
    peer: str = ""
    theirs: Callable[[], Metric] | None = None
    ratio: float = 0.0
    """The peer's time over ours, at least."""
    spent: float = 0.0
    first: list[float] = field(default_factory=list)


def main() -> int:
    """Print the CPU seconds of each metric. Return 1 if a metric is too slow or differs from its reference, else 0."""
    measured = metrics()
    kept: dict[str, list[Pair]] = {}
    for language, pairs in assistants():
        kept.setdefault(language, pairs[:PEER_PAIRS])
        for metric in measured:
            if metric.language == language:
                spent, scores = cpu_seconds(partial(scores_of, metric.ours, pairs))
                metric.spent += spent
                metric.first = metric.first or scores[:PEER_PAIRS]
    return int(sum(report_metric(metric, kept[metric.language]) for metric in measured) > 0)


def scores_of(metric: Metric, pairs: list[Pair]) -> list[float]:
    return [metric(said, gold) for said, gold in pairs]


def metrics() -> list[MetricBenchmark]:
    """Return the metrics to measure, with the limits of their CPU time."""
    f1 = partial(locomo_f1, category=4)
    rouge_zh = partial(rouge_l, language="zh")
    rouge_code, meteor_code = (partial(each, variant="published_code") for each in (rouge_zh, meteor))
    no_wordnet = "meteor_nowordnet published_code"
    jieba = "rouge 1.0.1 after jieba 0.42.1"
    found = [
        MetricBenchmark("locomo_f1", "en", f1, 87, "nltk Porter as published", porter, 8),
        MetricBenchmark("rouge_l_en", "en", rouge_l, 10, "rouge-score 0.1.2", rouge_score, 50),
        MetricBenchmark("rouge_l_zh", "zh", rouge_zh, 47),
        MetricBenchmark("rouge_l_zh published_code", "zh", rouge_code, 60, jieba, rouge, 20),
        MetricBenchmark(no_wordnet, "en", meteor_code, 80, "nltk without WordNet", nltk_meteor, 5),
    ]
    if folder := os.environ.get("MEMFLOW_WORDNET"):
        from memflow.resources.metric_backends.wordnet import WordNet

        synonyms = WordNet(folder)
        synonyms.of("read")  # reading its files is not counted
        found.append(MetricBenchmark("meteor", "en", partial(meteor, synonyms=synonyms), 80))
    return found


def assistants() -> Iterator[tuple[str, list[Pair]]]:
    """Return every assistant's answers with their gold texts, in both languages."""
    chance = random.Random(42)
    words = vocabulary(chance)
    english = [draw_text(chance, words, 200) for _ in range(QUESTIONS)]
    legal = CHINESE.split()
    chinese = [" ".join(chance.choices(legal, k=200)) for _ in range(QUESTIONS)]
    for _ in range(ASSISTANTS):
        yield "en", [(add_noise(chance, gold, words), gold) for gold in english]
        yield "zh", [(join_chinese(add_noise(chance, gold, legal)), join_chinese(gold)) for gold in chinese]


def join_chinese(words: str) -> str:
    """Return Chinese words joined as in written text: no spaces, and twelve words per clause."""
    parts = words.split()
    return "，".join("".join(parts[start : start + 12]) for start in range(0, len(parts), 12)) + "。"


def report_metric(metric: MetricBenchmark, pairs: list[Pair]) -> int:
    """Print the CPU seconds of a metric. Return 1 if it is too slow or differs from its reference, else 0."""
    responses = QUESTIONS * ASSISTANTS
    line = {
        "name": f"100,000 responses: {metric.name}",
        "value": round(metric.spent, 1),
        "unit": "cpu_s",
        "bound": metric.bound,
        "responses": responses,
        "per_second": round(responses / metric.spent),
    }
    missed = metric.spent > metric.bound
    if metric.theirs is not None:
        theirs = metric.theirs()
        theirs(*pairs[0])  # what it loads is not counted
        spent, scores = cpu_seconds(partial(scores_of, theirs, pairs))
        each = spent / len(pairs)
        ratio = each / (metric.spent / responses)
        identical = scores == metric.first
        missed = missed or not identical or ratio < metric.ratio
        line |= {
            "peer": metric.peer,
            "peer_per_second": round(1 / each),
            "ratio": round(ratio, 1),
            "ratio_bound": metric.ratio,
            "identical": identical,
        }
    report(line)
    return int(missed)


def porter() -> Metric:
    """Return a function that computes LoCoMo's F1 with the method of its published code."""
    from nltk.stem.porter import PorterStemmer

    stemmer = PorterStemmer()
    return lambda said, gold: published_f1(stemmer, said, gold, 4)


def rouge_score() -> Metric:
    """Return a function that computes ROUGE-L with the package rouge-score, without the stemmer."""
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    return lambda said, gold: scorer.score(gold, said)["rougeL"].fmeasure


def rouge() -> Metric:
    """Return a function that computes ROUGE as LexEval does: jieba, then all metrics of the package `rouge`."""
    import jieba
    from rouge import Rouge

    scorer = Rouge()
    marks = str.maketrans("", "", "，。")

    def cut(text: str) -> str:
        return " ".join(jieba.cut(text.translate(marks)))

    return lambda said, gold: scorer.get_scores([cut(said)], [cut(gold)], avg=True)["rouge-l"]["f"]


def nltk_meteor() -> Metric:
    """Return a function that computes METEOR with nltk on nltk's tokens, with an empty WordNet."""
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer
    from nltk.translate.meteor_score import meteor_score

    sentences, words = PunktSentenceTokenizer(), NLTKWordTokenizer()
    nothing = SimpleNamespace(synsets=lambda _: [])

    def cut(text: str) -> list[str]:
        return [word for sentence in sentences.tokenize(text) for word in words.tokenize(sentence)]

    return lambda said, gold: meteor_score([cut(gold)], cut(said), wordnet=nothing)


if __name__ == "__main__":
    sys.exit(main())
