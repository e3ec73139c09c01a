"""The thin Python side of the C++ core: the only importers of ``pincite._core``."""
