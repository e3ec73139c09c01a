#include "folding.hpp"

#include "unicode.hpp"

namespace pincite::unicode {
namespace {

// Letters with a stroke or a ligature that Unicode does not decompose, in lower case, for the alphabets in
// which readers type the plain letter instead: Nordic, Polish, Croatian, Vietnamese, Maltese, Sámi, Turkish,
// French.
std::u32string_view plain_letters(char32_t c) {
  switch (c) {
    case U'æ':
      return U"ae";
    case U'ð':
    case U'đ':
      return U"d";
    case U'ø':
      return U"o";
    case U'þ':
      return U"th";
    case U'ħ':
      return U"h";
    case U'ı':
      return U"i";
    case U'ł':
      return U"l";
    case U'œ':
      return U"oe";
    case U'ŧ':
      return U"t";
    case U'\u2019':
      return U"'";
    default:
      return {};
  }
}

bool is_dropped(char32_t c) { return has(c, Flag::dropped); }
bool is_accent(char32_t c) { return c >= 0x0300 && c <= 0x036F; }
bool is_cyrillic(char32_t c) { return c >= 0x0400 && c <= 0x052F; }

}  // namespace

std::u32string_view TermFolder::fold(std::u32string_view word) {
  decomposed_.clear();
  for (const char32_t c : word) append_decomposition(c, decomposed_);
  std::erase_if(decomposed_, is_dropped);
  // In order before the case is folded: U+0345 becomes a letter, on which the marks after it would stand.
  order_marks(decomposed_);

  folded_.clear();
  for (const char32_t c : decomposed_) append_case_folding(c, folded_);
  decomposed_.clear();
  for (const char32_t c : folded_) append_decomposition(c, decomposed_);
  std::erase_if(decomposed_, is_dropped);
  order_marks(decomposed_);

  drop_accents();
  compose(folded_);
  return folded_;
}

// From decomposed_ to folded_.
void TermFolder::drop_accents() {
  constexpr char32_t breve = 0x0306;
  folded_.clear();
  char32_t base = 0;
  for (const char32_t c : decomposed_) {
    if (is_accent(c) && has(base, Flag::accent_base) && !(c == breve && is_cyrillic(base))) continue;
    if (combining_class(c) == 0) base = c;
    const std::u32string_view plain = plain_letters(c);
    if (plain.empty()) {
      folded_ += c;
    } else {
      folded_ += plain;
    }
  }
}

}  // namespace pincite::unicode
