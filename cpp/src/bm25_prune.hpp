// Which documents can be among the k best: MaxScore (Turtle and Flood, "Query evaluation: strategies and
// optimizations", 1995) over windows of documents, in float32 with a margin for its rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pincite/bitmap.hpp"

namespace pincite::bm25 {

/// A term as the pruned pass sees it: score = weight * tf~ / (k1 + tf~), never above `bound`.
struct Impacts {
  std::span<const std::uint32_t> ids;
  std::span<const std::uint32_t> tfs;
  std::span<const std::uint8_t> table;  // of a frequent term, the same by document: see Data::tables
  float weight;
  float bound;
};

struct PruneContext {
  std::span<const float> gains;  // (documents, fields)
  std::size_t n_fields;
  float k1;
  const Bitmap* visible;  // null: all
  const Bitmap* allowed;  // null: all
};

/// Ids, ascending, of documents that include every one that can be among the k best and score `floor`.
[[nodiscard]] std::vector<std::uint32_t> candidates(std::vector<Impacts> terms, std::size_t k, float floor,
                                                    const PruneContext& context);

}  // namespace pincite::bm25
