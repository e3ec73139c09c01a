// Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pincite {

/// k of the paper's experiments.
inline constexpr double default_rrf_k = 60.0;

/// What rows of batches are padded with: no id, and passed over.
inline constexpr std::int64_t padding_id = -1;

struct FusedHit {
  std::int64_t id;
  double score;
};

/// Sums weight / (k + rank) over the lists, ranks from 1. An id that a list repeats counts once there, at its
/// best rank; `padding_id` never counts. Ordered by score descending, then id ascending; at most `limit` (0:
/// all). `weights` is empty (each list weighs 1) or has one finite, non-negative value a list; k is finite
/// and at least 0. Throws InvalidInputError. O(n log n) in the total length n.
[[nodiscard]] std::vector<FusedHit> reciprocal_rank_fusion(
    std::span<const std::span<const std::int64_t>> lists, double k = default_rrf_k,
    std::span<const double> weights = {}, std::size_t limit = 0);

}  // namespace pincite
