"""Unrelated conversation that extends trajectories to a given length (paper, section 4)."""
