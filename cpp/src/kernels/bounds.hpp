// The upper bounds of rows from their copies: loops that a compiler turns into each file's instructions.
// Internal linkage, see table.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pincite::kernels {
namespace {

void bound_i8(const std::int32_t* products, const float* scales, const float* residuals, std::size_t count,
              float scale, float norm, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = scale * scales[i] * static_cast<float>(products[i]) + norm * residuals[i];
  }
}

void bound(float* scores, const float* residuals, std::size_t count, float norm) {
  for (std::size_t i = 0; i < count; ++i) scores[i] += norm * residuals[i];
}

}  // namespace
}  // namespace pincite::kernels
