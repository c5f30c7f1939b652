"""Play episodes, answer probes, and keep what was played: the parts of a run that every benchmark shares."""
