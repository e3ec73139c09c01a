// IEEE 754 binary16, as 16 bits: converted exactly to float32, and rounded to nearest even from it.
#pragma once

#include <bit>
#include <cstdint>

namespace pincite {

using Half = std::uint16_t;

[[nodiscard]] constexpr float float_from_half(Half half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | ((magnitude & 0x3FFU) << 13U));
  if (magnitude >= 0x400U) return std::bit_cast<float>(sign | ((magnitude << 13U) + ((127U - 15U) << 23U)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -subnormal : subnormal;
}

/// Beyond the largest half (65504) the result is an infinity; NaN stays NaN.
[[nodiscard]] constexpr Half half_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<Half>((bits >> 16U) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<Half>(sign | 0x7E00U);
  if (magnitude >= 0x47800000U) return static_cast<Half>(sign | 0x7C00U);  // 65536 and above
  if (magnitude < 0x38800000U) {  // below 2^-14: a multiple of 2^-24, which adding 0.5 rounds to
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<Half>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t even = (magnitude >> 13U) & 1U;
  return static_cast<Half>(sign | ((magnitude + 0xFFFU + even - ((127U - 15U) << 23U)) >> 13U));
}

}  // namespace pincite
