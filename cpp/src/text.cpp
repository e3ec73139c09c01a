#include "pincite/text.hpp"

#include <string>

#include "pincite/error.hpp"
#include "pincite/utf8.hpp"

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
  for (const char raw : text) {
    const bool continuation = (static_cast<unsigned char>(raw) & 0xC0U) == 0x80U;
    if (continuation) continue;
    const char c = ascii_lower(raw);
    if (is_ascii_word(c)) {
      if (term.empty()) start = code_point;
      term += c;
    } else {
      flush(code_point);
    }
    ++code_point;
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
  (void)analyzer;
  (void)mode;
  analyze_ascii(text, sink);
}

}  // namespace pincite
