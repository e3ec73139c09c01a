#include "common.hpp"

#include <string>

#include "pincite/error.hpp"

namespace pincite::bind {
namespace {

std::string type_name(const py::handle& value) { return py::str(py::type::of(value).attr("__name__")); }

}  // namespace

std::string_view utf8_view(const py::handle& text, const std::string& who) {
  if (!PyUnicode_Check(text.ptr())) {
    throw InvalidInputError(who + " is of type " + type_name(text) + ", wanted str");
  }
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) {
    const py::error_already_set reason;  // takes the exception over
    if (!reason.matches(PyExc_UnicodeEncodeError)) throw reason;
    const auto at = reason.value().attr("start").cast<std::size_t>();
    throw InvalidInputError(who + " holds a lone surrogate at code point " + std::to_string(at) +
                            ", which no encoding can store; decode the source with errors='replace'");
  }
  return {data, static_cast<std::size_t>(size)};
}

Texts::Texts(const py::iterable& texts, std::size_t first) {
  if (PyUnicode_Check(texts.ptr())) {
    throw InvalidInputError("texts is one str, wanted a sequence of them; wrap it in a list");
  }
  for (const py::handle text : texts) {
    views_.push_back(utf8_view(text, "text " + std::to_string(first + owners_.size())));
    owners_.push_back(py::reinterpret_borrow<py::object>(text));
  }
}

std::optional<Bitmap> unpack_allowed(const py::object& allowed, std::size_t size, const std::string& name) {
  if (allowed.is_none()) return std::nullopt;
  if (py::isinstance<py::array_t<bool>>(allowed)) {
    const auto mask = py::array_t<bool, py::array::c_style | py::array::forcecast>(allowed);
    if (mask.ndim() != 1 || static_cast<std::size_t>(mask.size()) != size) {
      throw InvalidInputError(name + " is a mask of " + std::to_string(mask.size()) +
                              " values, the index has " + std::to_string(size) +
                              " rows; give one value a row");
    }
    return Bitmap::of_bytes({reinterpret_cast<const std::uint8_t*>(mask.data()), size});
  }
  const auto ids = IdArray::ensure(allowed);
  if (!py::isinstance<py::array_t<std::int64_t>>(allowed) || !ids || ids.ndim() != 1) {
    throw InvalidInputError(name + " is of type " + type_name(allowed) +
                            ", wanted None, a bool mask with one value a row, or an int64 array of row ids");
  }
  Bitmap bitmap(size);
  for (const std::int64_t id : span_of(ids)) {
    if (id < 0 || static_cast<std::size_t>(id) >= size) {
      throw InvalidInputError(name + " names row " + std::to_string(id) + ", the index has rows 0 to " +
                              std::to_string(static_cast<std::int64_t>(size) - 1));
    }
    bitmap.set(static_cast<std::size_t>(id));
  }
  return bitmap;
}

void check_columns(std::size_t queries, std::size_t k, std::size_t rows) {
  constexpr std::size_t most = std::size_t{1} << 26U;
  if (k <= rows || queries == 0 || k <= most / queries) return;
  throw InvalidInputError(
      "k is " + std::to_string(k) + " for " + std::to_string(queries) + " queries, the index has " +
      std::to_string(rows) +
      " rows; an answer padded to k columns would take more memory than it is worth, so ask for at "
      "most " +
      std::to_string(rows));
}

}  // namespace pincite::bind
