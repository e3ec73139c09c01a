// The graph while it is made, and the search over it: what building, repairing and searching share.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "pincite/hnsw.hpp"

namespace pincite {

/// The arrays of an HnswGraph, owned.
struct HnswArrays {
  std::vector<std::uint64_t> base_offsets = {0};
  std::vector<std::uint32_t> base_links;
  std::vector<std::uint32_t> upper_lists = {0};
  std::vector<std::uint64_t> upper_offsets = {0};
  std::vector<std::uint32_t> upper_links;
  std::uint32_t entry = 0;
};

[[nodiscard]] HnswGraph view_of(std::shared_ptr<const HnswArrays> arrays);

/// Runs hnswlib and copies its graph out.
[[nodiscard]] HnswArrays build_graph(const Vectors& vectors, const HnswOptions& options);

/// Adds links until every row finds itself, or an equal row, at the default ef. Returns how many it added.
[[nodiscard]] std::size_t repair_graph(const Vectors& vectors, std::shared_ptr<HnswArrays> arrays,
                                       std::size_t threads);

/// What one thread's searches reuse.
struct HnswScratch {
  std::vector<std::uint64_t> visited;  // one bit a row
  std::vector<Hit<float>> frontier;
  std::vector<std::uint32_t> fresh;
};

/// The graph's answer; may hold fewer than min(k, allowed rows) hits. Ends early once a row scores `enough`.
[[nodiscard]] HnswAnswer search_graph(const Vectors& vectors, const HnswGraph& graph, const float* query,
                                      std::size_t k, std::size_t ef, const Bitmap* allowed,
                                      HnswScratch& scratch,
                                      float enough = std::numeric_limits<float>::infinity());

}  // namespace pincite
