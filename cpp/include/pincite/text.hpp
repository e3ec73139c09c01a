// Text into terms: what is matched by BM25. Offsets always point into the text as it was given.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace pincite {

/// How a text becomes terms.
enum class Analyzer : std::uint8_t {
  /// `[a-z0-9]+` on lower case: the reference tokenizer. Only A-Z have a lower case here.
  ascii = 0,
  /// Words after UAX #29 that hold a letter or a number, folded for matching: NFKC, case, accents, no white
  /// space
  /// and no default-ignorable code points. Scripts that are written without spaces (the letters for which UAX
  /// #29
  /// has no rule, and Katakana: Chinese, Japanese, Thai, Lao, Khmer, Burmese, ...) give pairs of characters.
  /// Hangul
  /// has spaces, and words.
  unicode = 1,
};

/// "ascii" or "unicode". Throws InvalidInputError that lists both.
[[nodiscard]] Analyzer parse_analyzer(std::string_view name);
[[nodiscard]] std::string_view analyzer_name(Analyzer analyzer) noexcept;

/// A text that is indexed, or one that is asked for. They differ in runs without spaces alone: an indexed run
/// ABC gives the bigrams AB and BC and, at the place of BC, its last character C; a query gives AB and BC. A
/// query run of one character gives that character with `prefix` set: it stands for every term that begins
/// with it, and so finds the character wherever it is.
enum class AnalysisMode : std::uint8_t { index = 0, query = 1 };

struct Token {
  std::string_view term;  // valid during the call of the sink only
  std::uint32_t start;    // code points, [start, end)
  std::uint32_t end;
  std::uint32_t position;  // ordinal in the text, from 0; equal for a bigram and the character it ends with
  bool prefix;
};

using TokenSink = std::function<void(const Token&)>;

/// Calls `sink` for every token of a UTF-8 text, in order; starts never decrease. Throws InvalidInputError on
/// bytes that are no UTF-8, perhaps after some calls, and on 4 GiB or more. Linear in the text.
void analyze(std::string_view text, Analyzer analyzer, AnalysisMode mode, const TokenSink& sink);

}  // namespace pincite
