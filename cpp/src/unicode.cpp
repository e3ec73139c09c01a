#include "unicode.hpp"

#include <algorithm>

namespace pincite::unicode {
namespace {

std::u32string_view mapping(const std::uint8_t* stage1, const std::uint32_t* stage2, char32_t c) {
  const std::uint32_t packed = stage2[stage1[c / 128] * std::size_t{128} + c % 128];
  return {mapping_pool + (packed >> 5U), packed & 31U};
}

// The primary composite of two code points, or 0.
char32_t composition(char32_t first, char32_t second) {
  if (!has(second, Flag::composes_back)) return 0;
  if (first - hangul_l < n_hangul_l && second - hangul_v < n_hangul_v) {
    return hangul_s + ((first - hangul_l) * n_hangul_v + (second - hangul_v)) * n_hangul_t;
  }
  if (is_hangul_syllable(first) && (first - hangul_s) % n_hangul_t == 0 && second - hangul_t < n_hangul_t) {
    return first + (second - hangul_t);
  }
  const Composition* end = compositions + n_compositions;
  const Composition* found =
      std::lower_bound(compositions, end, second, [first](const Composition& entry, char32_t wanted) {
        return entry.first < first || (entry.first == first && entry.second < wanted);
      });
  return found != end && found->first == first && found->second == second ? found->composed : 0;
}

}  // namespace

std::u32string_view decomposition(char32_t c) noexcept {
  return mapping(decomposition_stage1, decomposition_stage2, c);
}

std::u32string_view case_folding(char32_t c) noexcept {
  return mapping(case_folding_stage1, case_folding_stage2, c);
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
  for (const char32_t c : text) decompose(c, [&out](char32_t part) { out += part; });
  order_marks(out);
  compose(out);
  return out;
}

std::u32string fold_case(std::u32string_view text) {
  std::u32string out;
  for (const char32_t c : text) {
    const std::u32string_view folded = case_folding(c);
    out += folded.empty() ? std::u32string_view(&c, 1) : folded;
  }
  return out;
}

}  // namespace pincite::unicode
