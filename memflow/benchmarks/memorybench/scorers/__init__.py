"""Scorers (subclasses of `scorer.Scorer`), which convert replies to verdicts, by task (paper, A.1.1, A.1.2).

Every metric has the variant `standard`. If published results are based on an error, the variant `published_code`
reproduces it on request (domain parameter `variants`).
"""
