#include <string>

#include "common.hpp"
#include "pincite/error.hpp"
#include "pincite/half.hpp"
#include "pincite/kernels.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

using HalfBitsArray = py::array_t<Half, py::array::c_style>;
using Int8Array = py::array_t<std::int8_t, py::array::c_style>;

const Kernel& chosen(const std::string& name) {
  return name.empty() ? default_kernel() : kernel_by_name(name);
}

void require_same_size(py::ssize_t a, py::ssize_t b) {
  if (a != b) {
    throw InvalidInputError("vectors have " + std::to_string(a) + " and " + std::to_string(b) +
                            " values, wanted the same number");
  }
}

// (rows, dim) of an array with two axes whose second one fits the query.
std::pair<std::size_t, std::size_t> shape_of(const py::array& rows, py::ssize_t query_size) {
  if (rows.ndim() != 2)
    throw InvalidInputError("rows has " + std::to_string(rows.ndim()) + " axes, wanted 2");
  require_same_size(query_size, rows.shape(1));
  return {static_cast<std::size_t>(rows.shape(0)), static_cast<std::size_t>(rows.shape(1))};
}

}  // namespace

void register_kernels(py::module_& module) {
  module.def(
      "available_kernels",
      [] {
        std::vector<std::string> names;
        for (const Kernel* kernel : available_kernels()) names.emplace_back(kernel->name);
        return names;
      },
      "Names of the kernels this machine can run, slowest first.");
  module.def(
      "default_kernel", [] { return std::string(default_kernel().name); },
      "Name of the kernel in use: the fastest, or the one that PINCITE_KERNEL names.");
  module.def(
      "dot",
      [](const FloatArray& a, const FloatArray& b, const std::string& kernel) {
        require_same_size(a.size(), b.size());
        return chosen(kernel).dot(a.data(), b.data(), static_cast<std::size_t>(a.size()));
      },
      py::arg("a").noconvert(), py::arg("b").noconvert(), py::kw_only(), py::arg("kernel") = "",
      "Dot product of two float32 arrays with a named kernel.");
  module.def(
      "dot_rows",
      [](const FloatArray& query, const FloatArray& rows, const std::string& kernel) {
        const auto [count, dim] = shape_of(rows, query.size());
        std::vector<float> out(count);
        chosen(kernel).dot_rows(query.data(), rows.data(), count, dim, out.data());
        return array_from(std::move(out));
      },
      py::arg("query").noconvert(), py::arg("rows").noconvert(), py::kw_only(), py::arg("kernel") = "",
      "Dot products of a float32 query with float32 rows.");
  module.def(
      "dot_rows_f16",
      [](const FloatArray& query, const HalfBitsArray& rows, const std::string& kernel) {
        const auto [count, dim] = shape_of(rows, query.size());
        std::vector<float> out(count);
        chosen(kernel).dot_rows_f16(query.data(), rows.data(), count, dim, out.data());
        return array_from(std::move(out));
      },
      py::arg("query").noconvert(), py::arg("rows").noconvert(), py::kw_only(), py::arg("kernel") = "",
      "Dot products of a float32 query with binary16 rows, given as their bits in uint16.");
  module.def(
      "dot_rows_i8",
      [](const Int8Array& query, const Int8Array& rows, const std::string& kernel) {
        const auto [count, dim] = shape_of(rows, query.size());
        if (dim > max_int8_dim) throw InvalidInputError("int8 dot products have at most 131071 components");
        std::vector<std::int32_t> out(count);
        chosen(kernel).dot_rows_i8(query.data(), rows.data(), count, dim, out.data());
        return array_from(std::move(out));
      },
      py::arg("query").noconvert(), py::arg("rows").noconvert(), py::kw_only(), py::arg("kernel") = "",
      "Exact dot products of an int8 query with int8 rows.");
  module.def(
      "half_bits",
      [](const FloatArray& values) {
        std::vector<Half> out;
        for (const float value : span_of(values)) out.push_back(half_from_float(value));
        return array_from(std::move(out));
      },
      py::arg("values").noconvert(), "The bits of float32 values rounded to binary16.");
}

}  // namespace pincite::bind
