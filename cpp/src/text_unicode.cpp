#include "text_unicode.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "folding.hpp"
#include "pincite/utf8.hpp"
#include "unicode.hpp"
#include "words.hpp"

namespace pincite {
namespace {

// The Word_Break values that ASCII has inside words, as bits.
enum AsciiKind : std::uint8_t {
  letter = 1,
  digit = 2,
  low_line = 4,
  upper = 8,
  in_letters = 16,  // MidLetter, MidNumLet, Single_Quote
  in_numbers = 32,  // MidNum, MidNumLet, Single_Quote
};

constexpr std::array<std::uint8_t, 128> ascii_kinds = [] {
  std::array<std::uint8_t, 128> kinds{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) kinds[c] = letter;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) kinds[c] = letter | upper;
  for (std::size_t c = '0'; c <= '9'; ++c) kinds[c] = digit;
  kinds['_'] = low_line;
  kinds[':'] = in_letters;
  kinds[','] = kinds[';'] = in_numbers;
  kinds['.'] = kinds['\''] = in_letters | in_numbers;
  return kinds;
}();

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
std::uint8_t kind_of(char c) { return ascii_kinds[static_cast<unsigned char>(c)]; }

// The first byte at or after `at` that is not ASCII, or the end.
std::size_t find_non_ascii(std::string_view text, std::size_t at) {
  for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (at < text.size() && is_ascii(text[at])) ++at;
  return at;
}

// Where a text may be cut so that its two sides are segmented alone: no rule of UAX #29 looks past ASCII
// white space that a visible ASCII character follows.
bool is_cut(std::string_view text, std::size_t at) {
  return at == text.size() ||
         (at > 0 && is_ascii_space(text[at - 1]) && is_ascii(text[at]) && text[at] > ' ');
}

class UnicodeAnalysis {
 public:
  UnicodeAnalysis(std::string_view text, AnalysisMode mode, const TokenSink& sink)
      : text_(text), query_(mode == AnalysisMode::query), sink_(sink) {}

  void run() {
    while (byte_ < text_.size()) {
      const std::size_t non_ascii = find_non_ascii(text_, byte_);
      std::size_t cut = non_ascii;
      while (cut > byte_ && !is_cut(text_, cut)) --cut;
      ascii_words(cut);
      if (cut == text_.size()) return;
      cut = non_ascii;
      while (!is_cut(text_, cut)) ++cut;
      piece_.clear();
      while (byte_ < cut) piece_ += decode_next(text_, byte_);
      words();
      piece_start_ += static_cast<std::uint32_t>(piece_.size());
    }
  }

 private:
  // One character of a script without spaces, folded, with the marks on it.
  struct Character {
    std::string term;
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    [[nodiscard]] bool empty() const { return term.empty(); }
  };

  // text_[byte_, end), which is ASCII, holds whole segments.
  void ascii_words(std::size_t end) {
    const auto code_point = [shift = piece_start_ - byte_](std::size_t byte) {
      return static_cast<std::uint32_t>(byte + shift);
    };
    std::size_t at = byte_;
    while (at < end) {
      const std::size_t start = at;
      std::uint8_t seen = 0;
      do {
        while (at < end && (kind_of(text_[at]) & (letter | digit | low_line)) != 0)
          seen |= kind_of(text_[at++]);
      } while (joins_ascii(start, at, end) && ++at < end);
      if ((seen & (letter | digit)) != 0) {
        std::string_view term = text_.substr(start, at - start);
        if ((seen & upper) != 0) term = lowered(term);
        sink_({term, code_point(start), code_point(at), position_++, false});
      } else if (at == start) {
        ++at;
      }
    }
    piece_start_ = code_point(end);
    byte_ = end;
  }

  // Whether the punctuation mark at `at` stands between two letters or two digits of one word.
  [[nodiscard]] bool joins_ascii(std::size_t start, std::size_t at, std::size_t end) const {
    if (at == start || at + 1 >= end) return false;
    const std::uint8_t mark = kind_of(text_[at]);
    const std::uint8_t both = kind_of(text_[at - 1]) & kind_of(text_[at + 1]);
    return ((mark & in_letters) != 0 && (both & letter) != 0) ||
           ((mark & in_numbers) != 0 && (both & digit) != 0);
  }

  std::string_view lowered(std::string_view word) {
    term_ = word;
    for (char& c : term_) c = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 'a' - 'A' : 0));
    return term_;
  }

  // piece_ holds whole segments.
  void words() {
    for (std::size_t start = 0; start < piece_.size();) {
      const unicode::Segment segment = unicode::next_segment(piece_, start);
      if (segment.unspaced) {
        add_to_run(start, segment.end);
      } else {
        end_run();
        if (segment.word) word(start, segment.end);
      }
      start = segment.end;
    }
    end_run();
  }

  void word(std::size_t start, std::size_t end) {
    term_.clear();
    for (const char32_t c : folder_.fold(slice(start, end))) append_utf8(term_, c);
    if (!term_.empty()) sink_({term_, code_point(start), code_point(end), position_++, false});
  }

  // Takes text apart into base characters with their marks, folds each, and takes what that gives apart
  // again: one character may stand for several (U+30FF for two kana), or end in a mark for the one before
  // (U+0E33).
  void add_to_run(std::size_t start, std::size_t end) {
    while (start < end) {
      std::size_t next = start + 1;
      while (next < end && unicode::attaches(unicode::word_break(piece_[next]))) ++next;
      for (const char32_t c : folder_.fold(slice(start, next))) {
        if (current_.empty() || !unicode::attaches(unicode::word_break(c))) {
          bigram();
          std::swap(previous_, current_);
          current_.term.clear();
          current_.start = code_point(start);
        }
        current_.end = code_point(next);
        append_utf8(current_.term, c);
      }
      start = next;
    }
  }

  void bigram() {
    if (previous_.empty()) return;
    term_ = previous_.term;
    term_ += current_.term;
    sink_({term_, previous_.start, current_.end, position_++, false});
  }

  void end_run() {
    if (current_.empty()) return;
    if (previous_.empty()) {
      sink_({current_.term, current_.start, current_.end, position_++, query_});
    } else {
      bigram();
      if (!query_) sink_({current_.term, current_.start, current_.end, position_ - 1, false});
    }
    previous_.term.clear();
    current_.term.clear();
  }

  [[nodiscard]] std::u32string_view slice(std::size_t start, std::size_t end) const {
    return std::u32string_view(piece_).substr(start, end - start);
  }
  [[nodiscard]] std::uint32_t code_point(std::size_t in_piece) const {
    return piece_start_ + static_cast<std::uint32_t>(in_piece);
  }

  std::string_view text_;
  bool query_;
  const TokenSink& sink_;
  std::size_t byte_ = 0;           // how far the text has been read
  std::uint32_t piece_start_ = 0;  // in code points
  std::uint32_t position_ = 0;
  std::u32string piece_;
  std::string term_;
  unicode::TermFolder folder_;
  Character previous_;  // of a run: the last two characters
  Character current_;
};

}  // namespace

void analyze_unicode(std::string_view text, AnalysisMode mode, const TokenSink& sink) {
  UnicodeAnalysis(text, mode, sink).run();
}

}  // namespace pincite
