// Vectors in fewer bits, with what was lost by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pincite/half.hpp"

namespace pincite {

/// Rounds to binary16; returns ||from - to||.
double quantise(std::span<const float> from, std::span<Half> to);

struct Int8Copy {
  float scale;      // from[i] is near scale * to[i]
  double residual;  // ||from - scale * to||
};

/// Codes from -127 to 127, the largest component at one of the ends.
Int8Copy quantise(std::span<const float> from, std::span<std::int8_t> to);

/// The smallest float that is not below `value`.
[[nodiscard]] float rounded_up(double value);

/// The largest float that is not above `value`.
[[nodiscard]] inline float rounded_down(double value) { return -rounded_up(-value); }

}  // namespace pincite
