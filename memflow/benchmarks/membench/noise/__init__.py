"""Unrelated conversation that extends trajectories to a set length (paper, section 4)."""
