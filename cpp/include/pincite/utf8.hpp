// UTF-8 in, code points inside, and the way back. Offsets of the core count code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pincite {

/// The code point at byte `at`, which moves on to the next. Throws as decode_utf8 does.
[[nodiscard]] char32_t decode_next(std::string_view text, std::size_t& at);

/// Decodes UTF-8. Throws InvalidInputError that names the first bad byte (overlong forms, surrogates and
/// values past U+10FFFF are bad).
[[nodiscard]] std::u32string decode_utf8(std::string_view text);

/// Throws as decode_utf8 does, and allocates nothing.
void check_utf8(std::string_view text);

/// Appends one code point as UTF-8. The code point has to be a Unicode scalar value.
void append_utf8(std::string& out, char32_t code_point);

[[nodiscard]] std::string encode_utf8(std::u32string_view text);

/// The number of UTF-16 units of a code point: 2 beyond the Basic Multilingual Plane.
[[nodiscard]] constexpr std::size_t utf16_units(char32_t code_point) noexcept {
  return code_point > 0xFFFF ? 2 : 1;
}

}  // namespace pincite
