#include "words.hpp"

#include "unicode.hpp"

namespace pincite::unicode {
namespace {

using enum WordBreak;

bool is_line_end(WordBreak value) { return value == cr || value == lf || value == newline; }
bool is_letter(WordBreak value) { return value == aletter || value == hebrew_letter; }
bool is_inside_letters(WordBreak value) {
  return value == mid_letter || value == mid_num_let || value == single_quote;
}
bool is_inside_numbers(WordBreak value) {
  return value == mid_num || value == mid_num_let || value == single_quote;
}
bool is_word_part(WordBreak value) {
  return is_letter(value) || value == numeric || value == katakana || value == extend_num_let;
}

// The next character after `at` that WB4 does not attach to it; `other` at the end.
WordBreak value_after(std::u32string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    const WordBreak value = word_break(text[at]);
    if (!attaches(value)) return value;
  }
  return other;
}

// Rules WB5 to WB16: whether text[at] stays with the segment. `before` and `last` are the segment's last two
// characters, what WB4 attaches left out; `indicators` how many regional indicators it ends with.
bool joins(std::u32string_view text, std::size_t at, WordBreak before, WordBreak last,
           std::size_t indicators) {
  const WordBreak value = word_break(text[at]);
  if (is_letter(last)) {
    if (is_letter(value) || value == numeric || value == extend_num_let) return true;  // WB5, WB9, WB13a
    if (last == hebrew_letter && value == single_quote) return true;                   // WB7a
    if (is_inside_letters(value)) return is_letter(value_after(text, at));             // WB6
    return last == hebrew_letter && value == double_quote && value_after(text, at) == hebrew_letter;  // WB7b
  }
  if (last == numeric) {
    if (is_letter(value) || value == numeric || value == extend_num_let) return true;  // WB8, WB10, WB13a
    return is_inside_numbers(value) && value_after(text, at) == numeric;               // WB12
  }
  if (is_letter(value) && is_letter(before) && is_inside_letters(last)) return true;           // WB7
  if (value == hebrew_letter && before == hebrew_letter && last == double_quote) return true;  // WB7c
  if (value == numeric && before == numeric && is_inside_numbers(last)) return true;           // WB11
  if (last == katakana) return value == katakana || value == extend_num_let;                   // WB13, WB13a
  if (last == extend_num_let) return is_word_part(value);                                      // WB13a, b
  return last == regional_indicator && value == regional_indicator && indicators % 2 == 1;     // WB15, WB16
}

}  // namespace

Segment next_segment(std::u32string_view text, std::size_t start) {
  PropertyRecord record = properties(text[start]);
  WordBreak last = WordBreak{record.word_break};
  Segment segment{start + 1, has(record, Flag::word), has(record, Flag::unspaced)};
  if (last == cr && segment.end < text.size() && text[segment.end] == U'\n') ++segment.end;  // WB3
  if (is_line_end(last)) return segment;                                                     // WB3a

  WordBreak before = other;
  WordBreak previous = last;  // the character just before, attached or not
  std::size_t indicators = last == regional_indicator ? 1 : 0;
  for (; segment.end < text.size(); ++segment.end) {
    record = properties(text[segment.end]);
    const WordBreak value{record.word_break};
    if (is_line_end(value)) break;  // WB3b
    const bool attached = attaches(value);
    const bool kept = attached || (previous == zwj && has(record, Flag::pictographic)) ||  // WB4, WB3c
                      (previous == wseg_space && value == wseg_space) ||                   // WB3d
                      joins(text, segment.end, before, last, indicators);
    if (!kept) break;
    previous = value;
    segment.word = segment.word || has(record, Flag::word);
    if (attached) continue;
    segment.unspaced = segment.unspaced && has(record, Flag::unspaced);
    before = last;
    last = value;
    indicators = value == regional_indicator ? indicators + 1 : 0;
  }
  return segment;
}

}  // namespace pincite::unicode
