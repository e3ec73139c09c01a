#include "quantise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pincite {

double quantise(std::span<const float> from, std::span<Half> to) {
  double squares = 0.0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = half_from_float(from[i]);
    const double lost = static_cast<double>(from[i]) - static_cast<double>(float_from_half(to[i]));
    squares += lost * lost;
  }
  return std::sqrt(squares);
}

Int8Copy quantise(std::span<const float> from, std::span<std::int8_t> to) {
  float largest = 0.0F;
  for (const float x : from) largest = std::max(largest, std::abs(x));
  const float scale = largest / 127.0F;
  double squares = 0.0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double code =
        std::clamp(std::round(static_cast<double>(from[i]) / static_cast<double>(scale)), -127.0, 127.0);
    to[i] = static_cast<std::int8_t>(code);
    const double lost = static_cast<double>(from[i]) - static_cast<double>(scale) * code;
    squares += lost * lost;
  }
  return {scale, std::sqrt(squares)};
}

float rounded_up(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) >= value
             ? rounded
             : std::nextafter(rounded, std::numeric_limits<float>::infinity());
}

}  // namespace pincite
