// Any bytes through both analyzers: tokens in order, within the text, and never empty; or InvalidInputError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pincite/error.hpp"
#include "pincite/text.hpp"
#include "pincite/utf8.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(std::string_view text, pincite::Analyzer analyzer, pincite::AnalysisMode mode) {
  const std::size_t length = pincite::decode_utf8(text).size();
  std::uint32_t last_start = 0;
  std::uint32_t next_position = 0;
  pincite::analyze(text, analyzer, mode, [&](const pincite::Token& token) {
    require(!token.term.empty() && token.start >= last_start && token.start < token.end &&
            token.end <= length);
    require(token.position == next_position || token.position + 1 == next_position);
    require(!pincite::decode_utf8(token.term).empty());
    last_start = token.start;
    next_position = token.position + 1;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto mode : {pincite::AnalysisMode::index, pincite::AnalysisMode::query}) {
      check(text, pincite::Analyzer::unicode, mode);
      check(text, pincite::Analyzer::ascii, mode);
    }
  } catch (const pincite::InvalidInputError&) {
    return 0;
  }
  return 0;
}
