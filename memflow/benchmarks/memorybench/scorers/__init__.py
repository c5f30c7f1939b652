"""Scorers: replies -> verdicts, by task (paper, A.1.1, A.1.2). Each is a `scorer.Scorer`.

Every metric has the variant `standard`; where published results rest on an error, `published_code` reproduces it on
request (domain parameter `variants`).
"""
