// Places in a UTF-8 text, counted in bytes, code points and UTF-16 units at once, so that nothing is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pincite {

struct Place {
  std::size_t byte = 0;
  std::uint32_t point = 0;
  std::uint32_t unit = 0;
};

/// Throws InvalidInputError on bytes that are no UTF-8, or on 4 GiB of them: the functions below rely on it.
void check_text(std::string_view text);

/// The place of byte `to`, which is not before `from`. Counts eight bytes a step.
[[nodiscard]] Place advance(std::string_view text, Place from, std::size_t to) noexcept;

/// The last place at most `units` after `from`, and at least one code point after it where the text goes on.
[[nodiscard]] Place advance_units(std::string_view text, Place from, std::size_t units) noexcept;

/// The first place at most `units` before `from`, not before byte `floor`.
[[nodiscard]] Place step_back(std::string_view text, Place from, std::size_t floor,
                              std::size_t units) noexcept;

// White space and line ends are those of ECMA-262 (WhiteSpace, LineTerminator): the first has U+FEFF and not
// U+0085, the second are LF, CR, U+2028 and U+2029.

/// The first byte of [from, to) that begins no white space, or `to`.
[[nodiscard]] std::size_t skip_space(std::string_view text, std::size_t from, std::size_t to) noexcept;

/// The end of [from, to) without the white space at it.
[[nodiscard]] std::size_t trim_end(std::string_view text, std::size_t from, std::size_t to) noexcept;

/// Whether a line begins at byte `at`.
[[nodiscard]] bool is_line_start(std::string_view text, std::size_t at) noexcept;

/// The first line end from byte `from` on, or the end of the text.
[[nodiscard]] std::size_t find_line_end(std::string_view text, std::size_t from) noexcept;

/// The first of two LF in a row in the bytes [from, to), or `to`.
[[nodiscard]] std::size_t find_blank_line(std::string_view text, std::size_t from, std::size_t to) noexcept;

/// Whether a sentence may end at `c`: one of `.`, `!` and `?`.
[[nodiscard]] bool is_stop(char c) noexcept;

/// The first stop in the bytes [from, to), or `to`.
[[nodiscard]] std::size_t find_stop(std::string_view text, std::size_t from, std::size_t to) noexcept;

}  // namespace pincite
