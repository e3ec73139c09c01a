// Any bytes: refused as no UTF-8, or chunks in order, trimmed to nothing never, and for blind cuts without a
// gap.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pincite/chunking.hpp"
#include "pincite/error.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_order(const pincite::Chunks& chunks, bool gapless) {
  std::uint32_t end = 0;
  for (const auto& span : chunks.spans) {
    check(span.covered_start <= span.start && span.start < span.end);
    check(gapless ? span.start == end : span.start >= end);
    check(gapless || span.section < chunks.sections.size());
    end = span.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t target = data[0] + std::size_t{1};
  const std::size_t overlap = data[1] % target;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    check_order(pincite::chunk_blind(text, target, overlap), true);
    check_order(pincite::chunk_sections(text, target, overlap), false);
  } catch (const pincite::InvalidInputError&) {
    return 0;
  }
  return 0;
}
