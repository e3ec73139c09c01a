#include "pincite/text.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "pincite/error.hpp"
#include "pincite/utf8.hpp"
#include "text_unicode.hpp"

namespace pincite {
namespace {

bool is_ascii_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

void analyze_ascii(std::string_view text, const TokenSink& sink) {
  std::string term;
  std::uint32_t code_point = 0;
  std::uint32_t start = 0;
  std::uint32_t position = 0;
  const auto flush = [&](std::uint32_t end) {
    if (term.empty()) return;
    sink({term, start, end, position++, false});
    term.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++code_point) {
    const char c = ascii_lower(text[at]);
    if (is_ascii_word(c)) {
      if (term.empty()) start = code_point;
      term += c;
      ++at;
    } else {
      flush(code_point);
      (void)decode_next(text, at);
    }
  }
  flush(code_point);
}

}  // namespace

Analyzer parse_analyzer(std::string_view name) {
  if (name == "ascii") return Analyzer::ascii;
  if (name == "unicode") return Analyzer::unicode;
  throw InvalidInputError("analyzer is '" + std::string(name) + "', wanted 'unicode' or 'ascii'");
}

std::string_view analyzer_name(Analyzer analyzer) noexcept {
  return analyzer == Analyzer::ascii ? "ascii" : "unicode";
}

void analyze(std::string_view text, Analyzer analyzer, AnalysisMode mode, const TokenSink& sink) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidInputError("text has " + std::to_string(text.size()) +
                            " bytes of UTF-8, wanted at most 4294967295; split the document");
  }
  if (analyzer == Analyzer::unicode) {
    analyze_unicode(text, mode, sink);
  } else {
    analyze_ascii(text, sink);
  }
}

}  // namespace pincite
