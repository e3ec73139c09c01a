// Any text, any layout within it: no non-blank character is lost or held twice, and no span exceeds its
// bound.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "pincite/structural.hpp"

namespace {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::int64_t next() { return at_ < size_ ? data_[at_++] : 0; }

  std::vector<std::int64_t> ascending(std::size_t count, std::int64_t most) {
    std::vector<std::int64_t> values(count);
    for (std::int64_t& value : values) value = next() % (most + 1);
    std::ranges::sort(values);
    return values;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pincite;
  constexpr std::size_t head = 48;
  if (size < head) return 0;
  constexpr std::u32string_view alphabet = U"ab .!\n\r\t\u0301\u200D\u3002\U0001F1E9\u2028-";
  std::u32string text;
  for (std::size_t i = head; i < size; ++i) text += alphabet[data[i] % alphabet.size()];
  const auto length = static_cast<std::int64_t>(text.size());

  Bytes bytes(data, head);
  const std::int64_t target = 1 + bytes.next();
  const std::int64_t overlap = bytes.next() % target;
  std::vector<std::int64_t> sections = bytes.ascending(2, length);
  sections.insert(sections.begin(), 0);
  sections.push_back(length);
  std::vector<Cut> cuts;
  for (int i = 0; i < 6; ++i)
    cuts.push_back({bytes.next() % (length + 1), static_cast<CutRank>(bytes.next() % 3)});
  const auto prose_bounds = bytes.ascending(2, length);
  const std::vector<TextSpan> prose = {{prose_bounds[0], prose_bounds[1]}};
  const auto bounds = bytes.ascending(6, length);
  const std::vector<Atom> atoms = {{bounds[0], bounds[1], bounds[2]}, {bounds[3], bounds[4], bounds[5]}};
  const auto piece_ends = bytes.ascending(8, length);
  std::vector<std::int64_t> budgets;
  if (bytes.next() % 2 == 1) budgets = {1 + bytes.next(), 1 + bytes.next() % 4, 1 + bytes.next() % 9};

  const auto spans =
      pack_structural(text, {sections, cuts, prose, atoms}, {target, overlap, piece_ends, budgets});
  std::int64_t reached = 0;
  const auto blank_until = [&](std::int64_t end) {
    for (; reached < end; ++reached) {
      if (!is_blank(text[static_cast<std::size_t>(reached)])) std::abort();
    }
  };
  for (const StructuralSpan& span : spans) {
    blank_until(span.start);
    if (span.start != reached || span.end <= span.start || span.end - span.start > target + target / 4)
      std::abort();
    if (span.covered_start > span.start || span.covered_start < span.start - overlap) std::abort();
    reached = span.end;
  }
  blank_until(length);
  return 0;
}
