#include "bounds.hpp"
#include "pincite/half.hpp"
#include "table.hpp"

namespace pincite::kernels {
namespace {

constexpr std::size_t lanes = 32;

float value(float x) { return x; }
float value(Half x) { return float_from_half(x); }

template <class T>
float dot_any(const float* a, const T* b, std::size_t dim) {
  float sum[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= dim; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) sum[j] += a[i + j] * value(b[i + j]);
  }
  for (std::size_t j = 0; i + j < dim; ++j) sum[j] += a[i + j] * value(b[i + j]);
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sum[j] += sum[j + half];
  }
  return sum[0];
}

float dot(const float* a, const float* b, std::size_t dim) { return dot_any(a, b, dim); }

void dot_rows(const float* query, const float* rows, std::size_t count, std::size_t dim, float* out) {
  for (std::size_t r = 0; r < count; ++r) out[r] = dot(query, rows + r * dim, dim);
}

void dot_rows_f16(const float* query, const Half* rows, std::size_t count, std::size_t dim, float* out) {
  for (std::size_t r = 0; r < count; ++r) out[r] = dot_any(query, rows + r * dim, dim);
}

void dot_rows_i8(const std::int8_t* query, const std::int8_t* rows, std::size_t count, std::size_t dim,
                 std::int32_t* out) {
  for (std::size_t r = 0; r < count; ++r) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < dim; ++i) sum += std::int32_t{query[i]} * std::int32_t{rows[r * dim + i]};
    out[r] = sum;
  }
}

std::uint64_t not_below(const float* values, std::size_t count, float least) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= std::uint64_t{!(values[i] < least)} << i;
  return bits;
}

constexpr Kernel kernel{"scalar", dot, dot_rows, dot_rows_f16, dot_rows_i8, bound_i8, bound, not_below};

}  // namespace

const Kernel* scalar() noexcept { return &kernel; }

}  // namespace pincite::kernels
