// What the bindings of `flat` and `hnsw` share: queries in, hits out. All of it is pure but `to_python`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common.hpp"
#include "pincite/topk.hpp"
#include "pincite/vectors.hpp"

namespace pincite::bind {

/// `count` queries of `given_dim` values each, checked against the index's `dim` and laid out row after row.
/// With `numbered`, an error names the query by its number.
[[nodiscard]] std::vector<float> checked_queries(std::span<const float> values, std::size_t count,
                                                 std::size_t given_dim, std::size_t dim, bool normalize,
                                                 bool numbered);

/// A read-only (n, dim) view of an index's rows; the array's base keeps the index alive.
template <class Index>
[[nodiscard]] py::array rows_view(const py::object& self) {
  const Vectors& vectors = self.cast<const Index&>().vectors();
  const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(vectors.size()),
                                          static_cast<py::ssize_t>(vectors.dim())};
  py::array_t<float> view(shape, vectors.values().data(), self);
  view.attr("flags").attr("writeable") = false;
  return view;
}

/// Hits as the columns that Python gets. One query: only those there are. A batch: rows padded to k columns
/// with id -1 and score -inf.
class HitColumns {
 public:
  /// Throws InvalidInputError when k columns would be little but padding, and too much of it.
  static HitColumns batch(std::size_t queries, std::size_t k, std::size_t rows);
  static HitColumns one() { return HitColumns(); }

  void add(std::span<const Hit<float>> hits);

  /// (ids, scores), one-dimensional; with `batch` (queries, k).
  [[nodiscard]] std::pair<py::array_t<std::int64_t>, py::array_t<float>> to_python() &&;
  [[nodiscard]] py::array_t<std::int64_t> counts() && { return array_from(std::move(counts_)); }

 private:
  bool padded_ = false;
  std::size_t k_ = 0;
  std::vector<std::int64_t> ids_;
  std::vector<float> scores_;
  std::vector<std::int64_t> counts_;
};

}  // namespace pincite::bind
