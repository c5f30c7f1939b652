"""Metrics, one module per family. A metric takes plain values and returns a number, or None with a reason."""
