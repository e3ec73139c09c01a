"""The query pipeline: plan, legs, fuse, measure, decide, rerank."""
