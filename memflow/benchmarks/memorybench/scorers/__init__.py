"""The performance monitor: replies -> verdicts, task by task (paper, A.1.1, A.1.2).

    metric.py         what a metric is: what it is given, and the marks that come of it
    words.py          LoCoMo's F1, ROUGE-L, METEOR: an answer's words beside the gold's
    accuracy.py       DialSim: the same words, or else a judge's yes or no
    checklist.py      HelloBench: a judge goes through the questions of a list
    criteria.py       WritingBench: a judge grades by criteria
    quality.py        NF-Cats: a judge alone says what an answer is worth
    limitations.py    LimitGen: is a paper's limitation found, and how well is it told
    legal.py          JuDGE: ten measures of a judgment, merged
    ideas.py          IdeaBench: hypotheses beside the real idea, merged
    articles.py       SciTechNews: a popular article beside the published one, merged
    listed.py         several texts in one reply
    integrated.py     several measures merged by a judge into one figure
    registry.py       which of them measures which probe
    verdicts.py       the drive: all replies, all requests at once
    answers.py        what a judge may answer; the prompts lie in prompts/
    scripted.py       handlers of the scripted chat

Every metric is `standard`, and where the published figures rest on a slip also `published_code`, for those who ask for
it by the domain's parameter `variants`. Figures are made of verdicts in figures.py, not here.
"""
