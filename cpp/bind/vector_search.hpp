// What the bindings of `flat` and `hnsw` share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common.hpp"
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

}  // namespace pincite::bind
