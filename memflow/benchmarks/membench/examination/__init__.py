"""The examiner of generated questions: it recomputes golds from the messages and their times alone.

The examiner does not know the plans of the generator. It recognizes values by their form, by the bundled vocabulary and
by cue words of its own (cues_*.yaml). A wording that it cannot read is not examined; it is not called wrong.
"""
