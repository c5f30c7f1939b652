"""A fake of the authors' code of A-MEM, after its published class."""
