#include "pincite/structural.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "pincite/error.hpp"

namespace pincite {
namespace {

using Offset = std::int64_t;

constexpr std::size_t ranks = 4;

bool joins_what_precedes(char32_t c) {
  if (c < 0x300) return false;
  struct Range {
    char32_t first, last;
  };
  // Combining marks of the common scripts, Hangul vowels and finals, variation selectors, the joiner, skin
  // tones and tags. Not all of UAX #29, which a cut in the middle of a word does not need.
  constexpr std::array<Range, 20> marks = {
      {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},     {0x610, 0x61A},     {0x64B, 0x65F},
       {0x900, 0x903},   {0x93A, 0x94F},   {0xE31, 0xE31},     {0xE34, 0xE3A},     {0xE47, 0xE4E},
       {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},   {0x200D, 0x200D},   {0x20D0, 0x20FF},
       {0x3099, 0x309A}, {0xFE00, 0xFE2F}, {0x1F3FB, 0x1F3FF}, {0xE0020, 0xE007F}, {0xE0100, 0xE01EF}}};
  return std::ranges::any_of(marks, [c](Range range) { return c >= range.first && c <= range.last; });
}

bool is_regional(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

template <class T>
decltype(auto) index(T& values, Offset offset) {
  return values[static_cast<std::size_t>(offset)];
}

[[noreturn]] void refuse(const std::string& what, Offset given, const std::string& wanted) {
  throw InvalidInputError(what + " is " + std::to_string(given) + ", wanted " + wanted);
}

class Packer {
 public:
  Packer(std::u32string_view text, const StructuralLayout& layout, const StructuralLimits& limits)
      : text_(text), size_(static_cast<Offset>(text.size())), layout_(layout), limits_(limits) {
    check();
    for (const Cut& cut : layout.cuts) cuts_[static_cast<std::size_t>(cut.rank)].push_back(cut.at);
    for (std::size_t rank = 0; rank + 1 < ranks; ++rank) std::ranges::sort(cuts_[rank]);
    for (const TextSpan& prose : layout.prose) {
      const auto begin = static_cast<std::size_t>(prose.start);
      for (const Offset end :
           sentence_ends(text.substr(begin, static_cast<std::size_t>(prose.end) - begin))) {
        cuts_.back().push_back(prose.start + end);
      }
    }
    next_text_.resize(text.size() + 1);
    next_text_.back() = size_;
    for (Offset i = size_ - 1; i >= 0; --i) index(next_text_, i) = blank(i) ? index(next_text_, i + 1) : i;
  }

  std::vector<StructuralSpan> pack() {
    std::vector<StructuralSpan> out;
    for (std::size_t section = 0; section + 1 < layout_.sections.size(); ++section)
      pack_section(section, out);
    return out;
  }

 private:
  [[nodiscard]] char32_t at(Offset offset) const { return index(text_, offset); }
  [[nodiscard]] bool blank(Offset offset) const { return is_blank(at(offset)); }

  void check() const {
    if (limits_.target < 1) refuse("target", limits_.target, "at least 1");
    if (limits_.overlap < 0 || limits_.overlap >= limits_.target) {
      refuse("overlap", limits_.overlap,
             "at least 0 and below target (" + std::to_string(limits_.target) + ")");
    }
    const auto ascend = [this](const std::string& what, Offset before, Offset value) {
      if (value < before || value > size_) {
        refuse(what, value, "between " + std::to_string(before) + " and " + std::to_string(size_));
      }
      return value;
    };
    Offset last = 0;
    for (const Offset bound : layout_.sections) last = ascend("section bound", last, bound);
    for (const Cut& cut : layout_.cuts) {
      (void)ascend("cut", 0, cut.at);
      if (cut.rank > CutRank::inner) refuse("rank of a cut", static_cast<Offset>(cut.rank), "0, 1 or 2");
    }
    last = 0;
    for (const TextSpan& prose : layout_.prose) {
      last = ascend("prose end", ascend("prose start", last, prose.start), prose.end);
    }
    last = 0;
    for (const Atom& atom : layout_.atoms) {
      last =
          ascend("atom end", ascend("context end", ascend("atom start", last, atom.start), atom.context_end),
                 atom.end);
    }
    last = 0;
    for (const Offset end : limits_.piece_ends) last = ascend("word piece end", last, end);
    const std::size_t sections = layout_.sections.empty() ? 0 : layout_.sections.size() - 1;
    if (!limits_.budgets.empty() && limits_.budgets.size() != sections) {
      refuse("number of budgets", static_cast<Offset>(limits_.budgets.size()),
             std::to_string(sections) + ", one a section");
    }
    for (const Offset budget : limits_.budgets) {
      if (budget < 1) refuse("budget of a section", budget, "at least 1 word piece");
    }
  }

  /// How many word pieces end at or before `offset`.
  [[nodiscard]] Offset pieces_before(Offset offset) const {
    return std::ranges::upper_bound(limits_.piece_ends, offset) - limits_.piece_ends.begin();
  }

  /// Where the `room` word pieces that follow `start` end, or the text's end where there are not more.
  [[nodiscard]] Offset window_end(Offset start, Offset room) const {
    const auto pieces = static_cast<Offset>(limits_.piece_ends.size());
    const Offset before = pieces_before(start);
    return room >= pieces - before ? size_ : index(limits_.piece_ends, before + room - 1);
  }

  /// The atom that `offset` lies strictly inside of, or -1.
  [[nodiscard]] Offset atom_around(Offset offset) const {
    const auto after = std::ranges::lower_bound(layout_.atoms, offset, {}, &Atom::start);
    if (after == layout_.atoms.begin()) return -1;
    return offset < std::prev(after)->end ? std::prev(after) - layout_.atoms.begin() : -1;
  }

  /// The atom whose context a span that starts at `start` needs, or -1. A context above the target, or
  /// above half of the budget, would cost more than it tells.
  [[nodiscard]] Offset context_for(Offset start, Offset budget) const {
    const Offset atom = atom_around(start);
    if (atom < 0) return -1;
    const Atom& around = index(layout_.atoms, atom);
    const bool useful = around.context_end > around.start && start >= around.context_end &&
                        around.context_end - around.start <= limits_.target &&
                        context_pieces(atom) <= budget / 2;
    return useful ? atom : -1;
  }

  [[nodiscard]] Offset context_pieces(Offset atom) const {
    if (atom < 0 || limits_.budgets.empty()) return 0;
    const Atom& around = index(layout_.atoms, atom);
    return pieces_before(around.context_end) - pieces_before(around.start);
  }

  /// Where a chunk whose first non-blank character is `first` starts: there, or where its line starts if
  /// only a small indentation (a quarter of the target) stands between.
  [[nodiscard]] Offset with_indentation(Offset lowest, Offset first) const {
    Offset start = first;
    while (start > lowest && first - start <= limits_.target / 4 &&
           (at(start - 1) == U' ' || at(start - 1) == U'\t')) {
      --start;
    }
    const bool line_start = start == 0 || at(start - 1) == U'\n' || at(start - 1) == U'\r';
    return line_start && first - start <= limits_.target / 4 ? start : first;
  }

  /// Whether a cut at `offset` keeps together what is read as one character.
  [[nodiscard]] bool parts_characters(Offset lowest, Offset offset) const {
    const char32_t left = at(offset - 1);
    const char32_t right = at(offset);
    if ((left == U'\r' && right == U'\n') || left == 0x200D || joins_what_precedes(right)) return false;
    if (!is_regional(left) || !is_regional(right)) return true;
    Offset run = offset;
    while (run > lowest && is_regional(at(run - 1))) --run;
    return (offset - run) % 2 == 0;
  }

  /// The best cut in (first, limit], or just behind it where white space follows.
  [[nodiscard]] Offset choose(Offset first, Offset limit, Offset wide) const {
    Offset cut = -1;
    for (std::size_t rank = 0; rank < ranks && cut < 0; ++rank) {
      const auto after = std::ranges::upper_bound(cuts_[rank], index(next_text_, limit));
      if (after == cuts_[rank].begin() || *std::prev(after) <= first) continue;
      cut = *std::prev(after);
    }
    if (cut < 0) cut = choose_in_sentence(first, limit);
    const Offset atom = atom_around(cut);
    return atom >= 0 && index(layout_.atoms, atom).end <= index(next_text_, wide)
               ? index(layout_.atoms, atom).end
               : cut;
  }

  [[nodiscard]] Offset choose_in_sentence(Offset first, Offset limit) const {
    for (Offset cut = limit; cut > first; --cut) {
      if (blank(cut) || (cut > first + 1 && blank(cut - 1))) return cut;
    }
    for (Offset cut = limit; cut > first; --cut) {
      if (parts_characters(first, cut)) return cut;
    }
    return limit;
  }

  [[nodiscard]] Offset covered_start(const StructuralSpan& before, const StructuralSpan& span,
                                     Offset room) const {
    Offset from = std::max(before.start, span.start - limits_.overlap);
    if (span.context >= 0) from = std::max(from, index(layout_.atoms, span.context).context_end);
    if (!limits_.budgets.empty()) {
      const Offset here = pieces_before(span.start);
      const Offset left = std::max<Offset>(0, room - (pieces_before(span.end) - here));
      if (left < here) from = std::max(from, index(limits_.piece_ends, here - left - 1));
    }
    if (from >= span.start) return span.start;
    if (from > before.start && !blank(from - 1) && !blank(from)) {
      Offset word = from;
      while (word < span.start && !blank(word)) ++word;
      if (word == span.start) {
        word = from;
        while (word < span.start && !parts_characters(before.start, word)) ++word;
      }
      from = word;
    }
    return std::min(index(next_text_, from), span.start);
  }

  void pack_section(std::size_t section, std::vector<StructuralSpan>& out) const {
    const Offset low = layout_.sections[section];
    Offset high = layout_.sections[section + 1];
    while (high > low && blank(high - 1)) --high;
    const Offset budget =
        limits_.budgets.empty() ? std::numeric_limits<Offset>::max() : limits_.budgets[section];
    const std::size_t first_span = out.size();
    Offset position = low;
    while (position < high) {
      const Offset first = index(next_text_, position);
      StructuralSpan span{};
      span.section = static_cast<Offset>(section);
      span.start = with_indentation(position, first);
      span.context = context_for(span.start, budget);
      const Offset room = std::max<Offset>(1, budget - context_pieces(span.context));
      const Offset window = limits_.budgets.empty() ? size_ : window_end(span.start, room);
      const Offset reach = std::min(limits_.target, size_ - span.start);
      const Offset limit = std::max(first + 1, std::min(span.start + reach, window));
      const Offset wide = std::min({span.start + reach + reach / 4, window, size_});
      position = high <= limit ? high : std::min(high, choose(first, limit, wide));
      span.end = position;
      while (blank(span.end - 1)) --span.end;
      span.covered_start = out.size() == first_span ? span.start : covered_start(out.back(), span, room);
      out.push_back(span);
    }
  }

  std::u32string_view text_;
  Offset size_;
  const StructuralLayout& layout_;
  const StructuralLimits& limits_;
  std::array<std::vector<Offset>, ranks> cuts_;
  std::vector<Offset> next_text_;  // the first non-blank offset at or behind each offset
};

}  // namespace

std::vector<StructuralSpan> pack_structural(std::u32string_view text, const StructuralLayout& layout,
                                            const StructuralLimits& limits) {
  return Packer(text, layout, limits).pack();
}

}  // namespace pincite
