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
  dropped = 8,         // Default_Ignorable_Code_Point, White_Space or a control: never part of a term
  accent_base = 16,    // Latin, Greek or Cyrillic script
  composes_back = 32,  // may compose with what stands before it, Hangul vowels and final consonants included
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

// Hangul syllables are taken apart and composed by arithmetic (The Unicode Standard, section 3.12).
inline constexpr char32_t hangul_s = 0xAC00;
inline constexpr char32_t hangul_l = 0x1100;
inline constexpr char32_t hangul_v = 0x1161;
inline constexpr char32_t hangul_t = 0x11A7;  // one before the first trailing consonant
inline constexpr char32_t n_hangul_l = 19;
inline constexpr char32_t n_hangul_v = 21;
inline constexpr char32_t n_hangul_t = 28;
[[nodiscard]] constexpr bool is_hangul_syllable(char32_t c) noexcept {
  return c - hangul_s < n_hangul_l * n_hangul_v * n_hangul_t;
}

/// Extend, Format or ZWJ: what rule WB4 leaves with the character before it.
[[nodiscard]] inline bool attaches(WordBreak value) noexcept {
  return value == WordBreak::extend || value == WordBreak::format || value == WordBreak::zwj;
}

/// The full compatibility decomposition of `c` by table, not yet in canonical order; empty where there is
/// none.
[[nodiscard]] std::u32string_view decomposition(char32_t c) noexcept;

/// The full case folding of `c` (statuses C and F of CaseFolding.txt); empty where it folds to itself.
[[nodiscard]] std::u32string_view case_folding(char32_t c) noexcept;

/// Calls `sink` for each code point of the full compatibility decomposition of `c`.
template <class Sink>
void decompose(char32_t c, const Sink& sink) {
  if (is_hangul_syllable(c)) {
    const char32_t syllable = c - hangul_s;
    sink(hangul_l + syllable / (n_hangul_v * n_hangul_t));
    sink(hangul_v + syllable / n_hangul_t % n_hangul_v);
    if (syllable % n_hangul_t != 0) sink(hangul_t + syllable % n_hangul_t);
    return;
  }
  const std::u32string_view parts = decomposition(c);
  if (parts.empty()) sink(c);
  for (const char32_t part : parts) sink(part);
}

/// The Canonical Ordering Algorithm, in place. O(n log n) at worst, O(n) where marks are in order.
void order_marks(std::u32string& text);

/// The Canonical Composition Algorithm, in place, on a text in canonical order.
void compose(std::u32string& text);

[[nodiscard]] std::u32string normalize_nfkc(std::u32string_view text);
[[nodiscard]] std::u32string fold_case(std::u32string_view text);

}  // namespace pincite::unicode
