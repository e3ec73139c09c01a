// The canonical dot product over an instruction set's 32 lanes. Everything here has internal linkage, so that
// each file that includes it keeps its own copy (see table.hpp).
//
// An Isa gives: Lanes (32 floats in registers), zero(), load(const float*), load(const std::uint16_t*) for
// binary16, add_product(sum, a, b), fold(sum), not_below(lanes, least), prefetch(address); and for int8,
// `i8_step` values at a time: Sums, zero_i8(), load_i8(query), add_product_i8(sums, q, row), totals(four
// sums, out), and excess_i8(query, dim), which is what its totals are too high by.
#pragma once

#include <cstring>

#include "bounds.hpp"
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

// Asks for the cache lines of 32 values. Rows are read once, in order, and the hardware's own prefetcher does
// not cross pages, which a row of 384 floats does every other time.
template <class Isa, class T>
void prefetch_lanes(const T* at) {
  for (std::size_t i = 0; i < lanes; i += 64 / sizeof(T)) Isa::prefetch(at + i);
}

// Two rows at a time share each load of the query: with two rows the adders, not the loads, set the pace.
template <class Isa, class T>
void dot_all(const float* query, const T* rows, std::size_t count, std::size_t dim, float* out) {
  std::size_t r = 0;
  for (; r + 2 <= count; r += 2) {
    const T* first = rows + r * dim;
    const T* second = first + dim;
    const std::size_t ahead = r + 6 <= count ? 4 * dim : 0;
    typename Isa::Lanes sum_first = Isa::zero();
    typename Isa::Lanes sum_second = Isa::zero();
    std::size_t i = 0;
    for (; i + lanes <= dim; i += lanes) {
      prefetch_lanes<Isa>(first + ahead + i);
      prefetch_lanes<Isa>(second + ahead + i);
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

// `rows_at_once` rows share the loads of the query, and the folding of their sums.
template <class Isa>
void dot_all_i8(const std::int8_t* query, const std::int8_t* rows, std::size_t count, std::size_t dim,
                std::int32_t* out) {
  constexpr std::size_t step = Isa::i8_step;
  constexpr std::size_t rows_at_once = 4;
  constexpr std::size_t ahead = 16;
  const std::uint32_t excess = Isa::excess_i8(query, dim);
  for (std::size_t r = 0; r < count; r += rows_at_once) {
    // The last rows: some of them twice.
    const std::size_t last = count - 1;
    const std::int8_t* row[rows_at_once];
    for (std::size_t j = 0; j < rows_at_once; ++j) row[j] = rows + (r + j < last ? r + j : last) * dim;
    const std::size_t later = r + ahead + rows_at_once <= count ? ahead * dim : 0;
    typename Isa::Sums sums[rows_at_once] = {Isa::zero_i8(), Isa::zero_i8(), Isa::zero_i8(), Isa::zero_i8()};
    std::size_t i = 0;
    for (; i + step <= dim; i += step) {
      const auto q = Isa::load_i8(query + i);
      for (std::size_t j = 0; j < rows_at_once; ++j) {
        if (i % 64 == 0) Isa::prefetch(row[j] + later + i);
        Isa::add_product_i8(sums[j], q, row[j] + i);
      }
    }
    if (i < dim) {
      std::int8_t padded[step] = {};
      std::memcpy(padded, query + i, dim - i);
      const auto q = Isa::load_i8(padded);
      for (std::size_t j = 0; j < rows_at_once; ++j) {
        std::memcpy(padded, row[j] + i, dim - i);
        Isa::add_product_i8(sums[j], q, padded);
      }
    }
    std::int32_t totals[rows_at_once];
    Isa::totals(sums, totals);
    for (std::size_t j = 0; j < rows_at_once && r + j < count; ++j) {
      out[r + j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(totals[j]) - excess);
    }
  }
}

template <class Isa>
std::uint64_t not_below(const float* values, std::size_t count, float least) {
  std::uint64_t bits = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    bits |= std::uint64_t{Isa::not_below(Isa::load(values + i), least)} << i;
  }
  for (; i < count; ++i) bits |= std::uint64_t{!(values[i] < least)} << i;
  return bits;
}

template <class Isa>
constexpr Kernel kernel_of(std::string_view name) {
  return {
      name,  dot_one<Isa, float>, dot_all<Isa, float>, dot_all<Isa, std::uint16_t>, dot_all_i8<Isa>, bound_i8,
      bound, not_below<Isa>};
}

}  // namespace
}  // namespace pincite::kernels
