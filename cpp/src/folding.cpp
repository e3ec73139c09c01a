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

bool is_accent(char32_t c) { return c >= 0x0300 && c <= 0x036F; }
bool is_cyrillic(char32_t c) { return c >= 0x0400 && c <= 0x052F; }

}  // namespace

std::u32string_view TermFolder::fold(std::u32string_view word) {
  marks_ = false;
  composes_ = false;
  decompose(word);
  // In order before the case is folded: U+0345 becomes a letter, on which the marks after it would stand.
  if (marks_) order_marks(decomposed_);
  fold_case();
  if (marks_) order_marks(folded_);
  drop_accents();
  if (composes_) compose(decomposed_);
  return decomposed_;
}

void TermFolder::keep(char32_t c, std::u32string& out) {
  const PropertyRecord& record = properties(c);
  if (has(record, Flag::dropped)) return;
  marks_ = marks_ || record.combining_class != 0;
  out += c;
}

void TermFolder::decompose(std::u32string_view word) {
  decomposed_.clear();
  for (const char32_t c : word) unicode::decompose(c, [this](char32_t part) { keep(part, decomposed_); });
}

// From decomposed_ to folded_, decomposed again.
void TermFolder::fold_case() {
  folded_.clear();
  for (const char32_t c : decomposed_) {
    const std::u32string_view folded = case_folding(c);
    if (folded.empty()) folded_ += c;
    for (const char32_t lower : folded) {
      unicode::decompose(lower, [this](char32_t part) { keep(part, folded_); });
    }
  }
}

// From folded_ to decomposed_.
void TermFolder::drop_accents() {
  constexpr char32_t breve = 0x0306;
  decomposed_.clear();
  char32_t base = 0;
  for (const char32_t c : folded_) {
    if (is_accent(c) && has(base, Flag::accent_base) && !(c == breve && is_cyrillic(base))) continue;
    const PropertyRecord& record = properties(c);
    if (record.combining_class == 0) base = c;
    composes_ = composes_ || has(record, Flag::composes_back);
    const std::u32string_view plain = plain_letters(c);
    decomposed_ += plain.empty() ? std::u32string_view(&c, 1) : plain;
  }
}

}  // namespace pincite::unicode
