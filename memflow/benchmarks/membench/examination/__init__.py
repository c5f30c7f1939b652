"""The examiner of generated questions: it recomputes golds from the messages and their times alone.

The examiner does not use the generator's plans. Values are recognized by their form, by the bundled vocabulary, and by
the cue words in cues_*.yaml. A probe whose wording cannot be read counts as not examined, not as wrong.
"""
