// The scoring function, once. Every score that leaves the core comes from here.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bm25_data.hpp"

namespace pincite::bm25 {

[[nodiscard]] inline double idf(std::size_t n_docs, std::size_t df) {
  return std::log(1.0 + (static_cast<double>(n_docs) - static_cast<double>(df) + 0.5) /
                            (static_cast<double>(df) + 0.5));
}

/// What one occurrence in a field weighs there: boost / (1 - b + b * length / mean length). Only for length >
/// 0.
[[nodiscard]] inline double gain(double boost, double b, std::uint32_t length, double mean_length) {
  return boost / (1.0 - b + b * static_cast<double>(length) / mean_length);
}

/// The contribution of a term that stands `tfs[f]` times in field f of a document of `lengths[f]` tokens.
[[nodiscard]] inline double term_score(const BM25Params& params, std::span<const double> mean_lengths,
                                       std::span<const std::uint32_t> tfs,
                                       std::span<const std::uint32_t> lengths, double idf,
                                       std::uint32_t count) {
  double tf = 0.0;
  for (std::size_t f = 0; f < tfs.size(); ++f) {
    if (tfs[f] > 0)
      tf += static_cast<double>(tfs[f]) * gain(params.fields[f].boost, params.b, lengths[f], mean_lengths[f]);
  }
  return static_cast<double>(count) * (idf * tf * (params.k1 + 1.0) / (params.k1 + tf));
}

}  // namespace pincite::bm25
