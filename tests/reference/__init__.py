"""Slow, obvious twins of the core, in pure Python. They are the oracle of the differential tests."""
