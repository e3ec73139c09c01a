// The chunk strategies A to F as spans. Sizes count UTF-16 units, offsets count code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pincite {

/// The slice [start, end) of a text. Embedded is [covered_start, end): the overlap before it is never quoted.
struct ChunkSpan {
  std::uint32_t start;
  std::uint32_t end;
  std::uint32_t covered_start;
  std::uint32_t section;  // an index of Chunks::sections; 0 where the strategy has none
};

/// Where the title of a section stands, white space around it left out.
struct SectionTitle {
  std::uint32_t start;
  std::uint32_t end;
};

struct Chunks {
  std::vector<ChunkSpan> spans;
  std::vector<SectionTitle> sections;
};

/// Strategies A and B: cuts of at most `target` units (of one code point where that one is larger), white
/// space included, so that every code point is in exactly one chunk. The overlap is the `overlap` units
/// before the cut (one less where they would begin with half of a surrogate pair).
///
/// Both functions take UTF-8, run in linear time and throw InvalidInputError on bytes that are no UTF-8, a
/// text of 4 GiB or more, a target of 0, or an overlap that is not below the target.
[[nodiscard]] Chunks chunk_blind(std::string_view text, std::size_t target, std::size_t overlap = 0);

/// Strategies C to F: the text below each line `## title`, its paragraphs packed while the slice from the
/// first to the last has at most `target` units. A larger paragraph is packed by itself, by sentence, and a
/// sentence that is larger still stays whole. Chunks are trimmed; what precedes the first such line is in
/// none. The overlap is what `overlap` units before the chunk hold, not before the section's first chunk,
/// trimmed at its start.
[[nodiscard]] Chunks chunk_sections(std::string_view text, std::size_t target, std::size_t overlap = 0);

}  // namespace pincite
