// The canonical dot product over an instruction set's 32 lanes. Everything here has internal linkage, so that
// each file that includes it keeps its own copy (see table.hpp).
//
// An Isa gives: Lanes (32 floats in registers), zero(), load(const float*), load(const std::uint16_t*) for
// binary16, add_product(sum, a, b), fold(sum); and for int8, `i8_step` values at a time: Sums, zero_i8(),
// add_product_i8(sums, a, b), total(sums).
#pragma once

#include <cstring>

#include "table.hpp"

namespace pincite::kernels {
namespace {

constexpr std::size_t lanes = 32;

// The last dim % 32 components, padded with zeros: +0 products leave a lane's sum as it is.
template <class Isa, class T>
typename Isa::Lanes load_tail(const T* from, std::size_t count) {
  T padded[lanes] = {};
  std::memcpy(padded, from, count * sizeof(T));
  return Isa::load(padded);
}

template <class Isa, class T>
float dot_one(const float* a, const T* b, std::size_t dim) {
  typename Isa::Lanes sum = Isa::zero();
  std::size_t i = 0;
  for (; i + lanes <= dim; i += lanes) Isa::add_product(sum, Isa::load(a + i), Isa::load(b + i));
  if (i < dim) Isa::add_product(sum, load_tail<Isa>(a + i, dim - i), load_tail<Isa>(b + i, dim - i));
  return Isa::fold(sum);
}

// Two rows at a time share each load of the query: with two rows the adders, not the loads, set the pace.
template <class Isa, class T>
void dot_all(const float* query, const T* rows, std::size_t count, std::size_t dim, float* out) {
  std::size_t r = 0;
  for (; r + 2 <= count; r += 2) {
    const T* first = rows + r * dim;
    const T* second = first + dim;
    typename Isa::Lanes sum_first = Isa::zero();
    typename Isa::Lanes sum_second = Isa::zero();
    std::size_t i = 0;
    for (; i + lanes <= dim; i += lanes) {
      const typename Isa::Lanes q = Isa::load(query + i);
      Isa::add_product(sum_first, q, Isa::load(first + i));
      Isa::add_product(sum_second, q, Isa::load(second + i));
    }
    if (i < dim) {
      const typename Isa::Lanes q = load_tail<Isa>(query + i, dim - i);
      Isa::add_product(sum_first, q, load_tail<Isa>(first + i, dim - i));
      Isa::add_product(sum_second, q, load_tail<Isa>(second + i, dim - i));
    }
    out[r] = Isa::fold(sum_first);
    out[r + 1] = Isa::fold(sum_second);
  }
  if (r < count) out[r] = dot_one<Isa>(query, rows + r * dim, dim);
}

template <class Isa>
void dot_all_i8(const std::int8_t* query, const std::int8_t* rows, std::size_t count, std::size_t dim,
                std::int32_t* out) {
  constexpr std::size_t step = Isa::i8_step;
  for (std::size_t r = 0; r < count; ++r) {
    const std::int8_t* row = rows + r * dim;
    typename Isa::Sums sums = Isa::zero_i8();
    std::size_t i = 0;
    for (; i + step <= dim; i += step) Isa::add_product_i8(sums, query + i, row + i);
    if (i < dim) {
      std::int8_t padded_query[step] = {};
      std::int8_t padded_row[step] = {};
      std::memcpy(padded_query, query + i, dim - i);
      std::memcpy(padded_row, row + i, dim - i);
      Isa::add_product_i8(sums, padded_query, padded_row);
    }
    out[r] = Isa::total(sums);
  }
}

template <class Isa>
constexpr Kernel kernel_of(std::string_view name) {
  return {name, dot_one<Isa, float>, dot_all<Isa, float>, dot_all<Isa, std::uint16_t>, dot_all_i8<Isa>};
}

}  // namespace
}  // namespace pincite::kernels
