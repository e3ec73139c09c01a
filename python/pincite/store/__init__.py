"""The index on disk: a catalog, immutable segments, and the commit that joins them."""
