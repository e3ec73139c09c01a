"""Measuring retrieval: gold sets, metrics, intervals, paired tests, thresholds."""
