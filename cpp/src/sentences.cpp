// Where sentences end, and what is blank. Few rules, on purpose: a missed end costs a cut at a worse place
// only.
#include <algorithm>
#include <array>
#include <string>

#include "pincite/structural.hpp"

namespace pincite {
namespace {

using View = std::u32string_view;

constexpr View full_width = U"\u3002\uFF0E\uFF01\uFF1F\uFF61";  // end a sentence anywhere
constexpr View spaced = U".!?\u2026\u061F\u0964";               // end one where white space follows
constexpr View closers = U"\"')]}\u00BB\u2019\u201D\u203A\u300D\u300F\u3011\uFF09\uFF3D";

// Words, in lower case and without their last full stop, that a full stop does not end a sentence behind.
constexpr std::array<View, 24> abbreviations = {
    U"abb", U"al", U"art", U"bzw", U"ca",   U"cf",  U"d.h", U"dr",  U"e.g", U"fig", U"i.e", U"mr",
    U"mrs", U"ms", U"no",  U"nr",  U"prof", U"sec", U"st",  U"u.a", U"vgl", U"vol", U"vs",  U"z.b"};

bool holds(View set, char32_t c) { return set.find(c) != View::npos; }

bool is_letter(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= 0xC0 && c < 0x2000);
}

/// Whether the full stop at `stop` belongs to an abbreviation or to an initial (one letter).
bool abbreviates(View text, std::size_t stop) {
  constexpr std::size_t longest = 4;
  std::size_t begin = stop;
  std::u32string word;
  while (begin > 0 && (is_letter(text[begin - 1]) || text[begin - 1] == U'.')) {
    if (word.size() == longest) return false;
    const char32_t c = text[--begin];
    word.insert(word.begin(), c >= U'A' && c <= U'Z' ? c - U'A' + U'a' : c);
  }
  return (word.size() == 1 && is_letter(word[0])) ||
         std::ranges::find(abbreviations, View(word)) != abbreviations.end();
}

}  // namespace

bool is_blank(char32_t c) noexcept {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::vector<std::int64_t> sentence_ends(View text) {
  std::vector<std::int64_t> ends;
  const std::size_t n = text.size();
  std::size_t i = 0;
  while (i < n) {
    if (!holds(spaced, text[i]) && !holds(full_width, text[i])) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    bool anywhere = false;
    for (; i < n && (holds(spaced, text[i]) || holds(full_width, text[i])); ++i) {
      anywhere = anywhere || holds(full_width, text[i]);
    }
    const std::size_t run_end = i;
    while (i < n && holds(closers, text[i])) ++i;
    if (!anywhere) {
      if (i < n && !is_blank(text[i])) continue;
      if (run_end - first == 1 && text[first] == U'.' && abbreviates(text, first)) continue;
    }
    while (i < n && is_blank(text[i])) ++i;
    ends.push_back(static_cast<std::int64_t>(i));
  }
  if (n > 0 && (ends.empty() || ends.back() != static_cast<std::int64_t>(n)))
    ends.push_back(static_cast<std::int64_t>(n));
  return ends;
}

}  // namespace pincite
