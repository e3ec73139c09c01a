// What every binding shares: the array types, named once, and the way texts and row filters come in.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pincite/bitmap.hpp"

namespace pincite::bind {

namespace py = pybind11;

// Bound with .noconvert(): python/pincite/core/arrays.py is the one place that casts.
using FloatArray = py::array_t<float, py::array::c_style>;
using IdArray = py::array_t<std::int64_t, py::array::c_style>;

/// A flat view of an array's values. Valid while the array lives.
template <class T, int Flags>
[[nodiscard]] std::span<const T> span_of(const py::array_t<T, Flags>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// A numpy array that takes the vector's memory over; a short one is copied, which is cheaper.
template <class T>
[[nodiscard]] py::array_t<T> array_from(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  if (values.size() <= 1024) {
    py::array_t<T> copy(std::move(shape));
    std::copy(values.begin(), values.end(), copy.mutable_data());
    return copy;
  }
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owner->data();
  const py::capsule free(owner.release(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(std::move(shape), data, free);
}

template <class T>
[[nodiscard]] py::array_t<T> array_from(std::vector<T>&& values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return array_from(std::move(values), {size});
}

/// UTF-8 views of Python strings. Holds references to them, so the views stay valid with the GIL released.
class Texts {
 public:
  /// Throws InvalidInputError on an element that is no str, or holds a lone surrogate; its text counts from
  /// `first`.
  explicit Texts(const py::iterable& texts, std::size_t first = 0);
  [[nodiscard]] std::span<const std::string_view> views() const noexcept { return views_; }

 private:
  std::vector<py::object> owners_;
  std::vector<std::string_view> views_;
};

/// The UTF-8 view of one str; valid while the object lives. `who` begins the error's text.
[[nodiscard]] std::string_view utf8_view(const py::handle& text, const std::string& who);

/// A path that Python gave as UTF-8 text.
[[nodiscard]] inline std::filesystem::path path_from(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

/// `allowed` as a bitmap over `size` rows: None (all: no bitmap), a bool array with one value a row, or an
/// int64 array of row ids in any order. Throws InvalidInputError, whose text calls it `name`.
[[nodiscard]] std::optional<Bitmap> unpack_allowed(const py::object& allowed, std::size_t size,
                                                   const std::string& name = "allowed");

/// Throws InvalidInputError when k columns for each of `queries` would be little but padding, and too much of
/// it: k beyond the `rows` of the index, and more than 2^26 columns in all.
void check_columns(std::size_t queries, std::size_t k, std::size_t rows);

/// The address of an optional's value, or nullptr.
template <class T>
[[nodiscard]] const T* pointer_to(const std::optional<T>& value) noexcept {
  return value ? &*value : nullptr;
}

}  // namespace pincite::bind
