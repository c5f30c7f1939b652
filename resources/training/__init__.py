"""Training of LoRA adapters, in a Python environment that has torch."""
