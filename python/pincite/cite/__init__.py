"""Citations: where a passage is written, so that it can be opened and checked."""
