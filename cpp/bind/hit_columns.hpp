// Hits as the columns that Python gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common.hpp"
#include "pincite/topk.hpp"

namespace pincite::bind {

/// One query: only the hits there are. A batch: rows padded to k columns with id -1 and score -inf. Filled
/// without the GIL, handed over with it.
template <class Score>
class HitColumns {
 public:
  static HitColumns one() { return HitColumns(0, false); }

  /// Throws InvalidInputError when k columns would be little but padding, and too much of it.
  static HitColumns batch(std::size_t queries, std::size_t k, std::size_t rows) {
    check_columns(queries, k, rows);
    HitColumns out(k, true);
    out.ids_.reserve(queries * k);
    out.scores_.reserve(queries * k);
    return out;
  }

  void add(std::span<const Hit<Score>> hits) {
    for (const Hit<Score>& hit : hits) {
      ids_.push_back(hit.id);
      scores_.push_back(hit.score);
    }
    counts_.push_back(static_cast<std::int64_t>(hits.size()));
    if (padded_) {
      ids_.resize(counts_.size() * k_, -1);
      scores_.resize(counts_.size() * k_, -std::numeric_limits<Score>::infinity());
    }
  }

  /// (ids, scores): one-dimensional, or (queries, k).
  [[nodiscard]] std::pair<py::array_t<std::int64_t>, py::array_t<Score>> hits() {
    if (!padded_) return {array_from(std::move(ids_)), array_from(std::move(scores_))};
    const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(counts_.size()),
                                            static_cast<py::ssize_t>(k_)};
    return {array_from(std::move(ids_), shape), array_from(std::move(scores_), shape)};
  }
  [[nodiscard]] py::array_t<std::int64_t> counts() { return array_from(std::move(counts_)); }

 private:
  HitColumns(std::size_t k, bool padded) : k_(k), padded_(padded) {}

  std::size_t k_;
  bool padded_;
  std::vector<std::int64_t> ids_;
  std::vector<Score> scores_;
  std::vector<std::int64_t> counts_;
};

}  // namespace pincite::bind
