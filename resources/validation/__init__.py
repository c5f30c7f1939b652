"""Validation of the lake's tables: Great Expectations, and the rules that refer to rows of other tables."""
