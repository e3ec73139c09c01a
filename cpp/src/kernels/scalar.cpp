#include "table.hpp"

namespace pincite::kernels {
namespace {

constexpr std::size_t lanes = 32;

float dot(const float* a, const float* b, std::size_t dim) {
  float sum[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= dim; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) sum[j] += a[i + j] * b[i + j];
  }
  for (std::size_t j = 0; i + j < dim; ++j) sum[j] += a[i + j] * b[i + j];
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sum[j] += sum[j + half];
  }
  return sum[0];
}

void dot_rows(const float* query, const float* rows, std::size_t count, std::size_t dim, float* out) {
  for (std::size_t r = 0; r < count; ++r) out[r] = dot(query, rows + r * dim, dim);
}

constexpr Kernel kernel{"scalar", dot, dot_rows};

}  // namespace

const Kernel* scalar() noexcept { return &kernel; }

}  // namespace pincite::kernels
