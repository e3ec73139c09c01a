// Properties of code points and the Unicode algorithms over them (UAX #15, full case folding). Every code
// point handed in has to be a Unicode scalar value, which decode_utf8 sees to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "unicode_tables.hpp"

namespace pincite::unicode {

/// Word_Break of UAX #29. The generator numbers its tables in this order.
enum class WordBreak : std::uint8_t {
  other,
  cr,
  lf,
  newline,
  extend,
  zwj,
  format,
  regional_indicator,
  katakana,
  hebrew_letter,
  aletter,
  single_quote,
  double_quote,
  mid_num_let,
  mid_letter,
  mid_num,
  numeric,
  extend_num_let,
  wseg_space,
};

enum class Flag : std::uint8_t {
  pictographic = 1,    // Extended_Pictographic
  word = 2,            // Alphabetic, or a number (general category N*)
  unspaced = 4,        // Alphabetic with Word_Break Other or Katakana: a script written without spaces
  dropped = 8,         // Default_Ignorable_Code_Point or White_Space: never part of a term
  accent_base = 16,    // Latin, Greek or Cyrillic script
  composes_back = 32,  // may combine with what stands before it
};

[[nodiscard]] inline const PropertyRecord& properties(char32_t c) noexcept {
  return property_records[property_stage2[property_stage1[c / 128] * std::size_t{128} + c % 128]];
}
[[nodiscard]] inline WordBreak word_break(char32_t c) noexcept { return WordBreak{properties(c).word_break}; }
[[nodiscard]] inline std::uint8_t combining_class(char32_t c) noexcept {
  return properties(c).combining_class;
}
[[nodiscard]] inline bool has(const PropertyRecord& record, Flag flag) noexcept {
  return (record.flags & static_cast<std::uint8_t>(flag)) != 0;
}
[[nodiscard]] inline bool has(char32_t c, Flag flag) noexcept { return has(properties(c), flag); }

/// Extend, Format or ZWJ: what rule WB4 leaves with the character before it.
[[nodiscard]] inline bool attaches(WordBreak value) noexcept {
  return value == WordBreak::extend || value == WordBreak::format || value == WordBreak::zwj;
}

/// Appends the full compatibility decomposition of `c`, not yet in canonical order.
void append_decomposition(char32_t c, std::u32string& out);

/// Appends the full case folding of `c` (statuses C and F of CaseFolding.txt).
void append_case_folding(char32_t c, std::u32string& out);

/// The Canonical Ordering Algorithm, in place. O(n log n) at worst, O(n) where marks are in order.
void order_marks(std::u32string& text);

/// The Canonical Composition Algorithm, in place, on a text in canonical order.
void compose(std::u32string& text);

[[nodiscard]] std::u32string normalize_nfkc(std::u32string_view text);
[[nodiscard]] std::u32string fold_case(std::u32string_view text);

}  // namespace pincite::unicode
