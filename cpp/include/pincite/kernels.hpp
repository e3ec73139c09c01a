// The arithmetic of vectors, once per instruction set, with one result.
//
// Every kernel adds in the same order: 32 lanes, lane j takes the products of components j, j + 32, j + 64,
// ... (multiplied and added with two roundings, no fused multiply-add), and the lanes are folded in halves:
// lane j takes lane j + 16, then j + 8, 4, 2, 1. So a score is the same bits on every machine, and it does
// not depend on the row's place in the index or on its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pincite {

/// The largest dimension whose int8 dot products fit 32 bits: 128 * 128 * 131071 < 2^31.
inline constexpr std::size_t max_int8_dim = 131071;

struct Kernel {
  std::string_view name;

  /// Dot product of two float32 vectors.
  float (*dot)(const float* a, const float* b, std::size_t dim);

  /// Dot products of one query with `count` consecutive rows of `dim` floats.
  void (*dot_rows)(const float* query, const float* rows, std::size_t count, std::size_t dim, float* out);

  /// The same for rows of binary16 (half.hpp), each value converted exactly, then multiplied and added as
  /// above.
  void (*dot_rows_f16)(const float* query, const std::uint16_t* rows, std::size_t count, std::size_t dim,
                       float* out);

  /// Exact dot products of int8 vectors. Needs dim <= max_int8_dim.
  void (*dot_rows_i8)(const std::int8_t* query, const std::int8_t* rows, std::size_t count, std::size_t dim,
                      std::int32_t* out);

  /// out[i] = scale * scales[i] * products[i] + norm * residuals[i], rounded at each step.
  void (*bound_i8)(const std::int32_t* products, const float* scales, const float* residuals,
                   std::size_t count, float scale, float norm, float* out);

  /// scores[i] += norm * residuals[i], likewise.
  void (*bound)(float* scores, const float* residuals, std::size_t count, float norm);

  /// Bit i says whether values[i] is not below `least` (a NaN is not). Takes at most 64 values.
  std::uint64_t (*not_below)(const float* values, std::size_t count, float least);
};

/// The kernels this machine can run, slowest first; "scalar" is always there.
[[nodiscard]] std::span<const Kernel* const> available_kernels();

/// The kernel used where none is named: the fastest available one, or the one that the environment variable
/// PINCITE_KERNEL names. Chosen at the first call. Throws InvalidInputError when that name is not available.
[[nodiscard]] const Kernel& default_kernel();

/// Throws InvalidInputError that lists the available ones when there is none of that name.
[[nodiscard]] const Kernel& kernel_by_name(std::string_view name);

}  // namespace pincite
