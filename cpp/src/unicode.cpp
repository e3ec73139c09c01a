#include "unicode.hpp"

#include <algorithm>

namespace pincite::unicode {
namespace {

// Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
constexpr char32_t hangul_s = 0xAC00;
constexpr char32_t hangul_l = 0x1100;
constexpr char32_t hangul_v = 0x1161;
constexpr char32_t hangul_t = 0x11A7;  // one before the first trailing consonant
constexpr char32_t n_l = 19;
constexpr char32_t n_v = 21;
constexpr char32_t n_t = 28;
constexpr char32_t n_s = n_l * n_v * n_t;

std::u32string_view mapping(const std::uint8_t* stage1, const std::uint32_t* stage2, char32_t c) {
  const std::uint32_t packed = stage2[stage1[c / 128] * std::size_t{128} + c % 128];
  return {mapping_pool + (packed >> 5U), packed & 31U};
}

// The primary composite of two code points, or 0.
char32_t composition(char32_t first, char32_t second) {
  if (first - hangul_l < n_l && second - hangul_v < n_v) {
    return hangul_s + ((first - hangul_l) * n_v + (second - hangul_v)) * n_t;
  }
  if (first - hangul_s < n_s && (first - hangul_s) % n_t == 0 && second - hangul_t - 1 < n_t - 1) {
    return first + (second - hangul_t);
  }
  if (!has(second, Flag::composes_back)) return 0;
  const Composition* end = compositions + n_compositions;
  const Composition* found =
      std::lower_bound(compositions, end, second, [first](const Composition& entry, char32_t wanted) {
        return entry.first < first || (entry.first == first && entry.second < wanted);
      });
  return found != end && found->first == first && found->second == second ? found->composed : 0;
}

}  // namespace

void append_decomposition(char32_t c, std::u32string& out) {
  if (c - hangul_s < n_s) {
    const char32_t syllable = c - hangul_s;
    out += hangul_l + syllable / (n_v * n_t);
    out += hangul_v + syllable / n_t % n_v;
    if (syllable % n_t != 0) out += hangul_t + syllable % n_t;
    return;
  }
  const std::u32string_view found = mapping(decomposition_stage1, decomposition_stage2, c);
  if (found.empty()) {
    out += c;
  } else {
    out += found;
  }
}

void append_case_folding(char32_t c, std::u32string& out) {
  const std::u32string_view found = mapping(case_folding_stage1, case_folding_stage2, c);
  if (found.empty()) {
    out += c;
  } else {
    out += found;
  }
}

void order_marks(std::u32string& text) {
  const auto by_class = [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); };
  const auto is_mark = [](char32_t c) { return c >= 0x300 && combining_class(c) != 0; };
  auto at = text.begin();
  while (at != text.end()) {
    const auto first = std::find_if(at, text.end(), is_mark);
    at = std::find_if_not(first, text.end(), is_mark);
    if (!std::is_sorted(first, at, by_class)) std::stable_sort(first, at, by_class);
  }
}

void compose(std::u32string& text) {
  constexpr std::size_t none = ~std::size_t{0};
  std::size_t kept = 0;
  std::size_t starter = none;
  std::uint8_t last_class = 0;
  for (const char32_t c : text) {
    const std::uint8_t own_class = c < 0x300 ? std::uint8_t{0} : combining_class(c);
    const bool reaches_starter = starter != none && (kept == starter + 1 || last_class < own_class);
    if (const char32_t composed = reaches_starter && c >= 0x300 ? composition(text[starter], c) : 0) {
      text[starter] = composed;
      continue;
    }
    if (own_class == 0) starter = kept;
    last_class = own_class;
    text[kept++] = c;
  }
  text.resize(kept);
}

std::u32string normalize_nfkc(std::u32string_view text) {
  std::u32string out;
  for (const char32_t c : text) append_decomposition(c, out);
  order_marks(out);
  compose(out);
  return out;
}

std::u32string fold_case(std::u32string_view text) {
  std::u32string out;
  for (const char32_t c : text) append_case_folding(c, out);
  return out;
}

}  // namespace pincite::unicode
