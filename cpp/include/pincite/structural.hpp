// The structural chunker's packer: where a document is cut, given where it may be. It returns spans, never
// copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pincite {

/// How good a place is for a cut, best first. Inside a chunk's reach the last place of the best kind wins.
enum class CutRank : std::uint8_t { block = 0, unit = 1, inner = 2, sentence = 3 };

/// A fence or a table: kept whole where it fits 5/4 of the target. [start, context_end) is what a later part
/// needs beside it to be understood (a table's header rows); empty for a fence.
struct Atom {
  std::int64_t start;
  std::int64_t context_end;
  std::int64_t end;
};

struct TextSpan {
  std::int64_t start;
  std::int64_t end;
};

struct Cut {
  std::int64_t at;
  CutRank rank;
};

/// What a parser found. Hints alone: whatever they say, no character is lost. Offsets are code points.
struct StructuralLayout {
  std::span<const std::int64_t>
      sections;                     // n + 1 ascending bounds; nothing outside the first and last is packed
  std::span<const Cut> cuts;        // of the ranks block, unit and inner, in any order
  std::span<const TextSpan> prose;  // where sentence ends are looked for; ascending, apart
  std::span<const Atom> atoms;      // ascending, apart
};

struct StructuralLimits {
  std::int64_t target;   // code points of content
  std::int64_t overlap;  // code points, below target
  /// Ends of the document's word pieces, ascending; used where `budgets` is not empty.
  std::span<const std::int64_t> piece_ends;
  /// Word pieces left for context, overlap and content, one a section; empty: no window.
  std::span<const std::int64_t> budgets;
};

struct StructuralSpan {
  std::int64_t start;
  std::int64_t end;
  std::int64_t covered_start;
  std::int64_t section;
  std::int64_t context;  // the atom whose context goes with it, or -1
};

/// Cuts every section into spans of at most `target` code points (5/4 of it where that keeps an atom whole)
/// that hold every non-blank character exactly once, in order. Throws InvalidInputError on limits or a layout
/// that make no sense. O(text + spans * log(cuts)), beside sorting the cuts.
[[nodiscard]] std::vector<StructuralSpan> pack_structural(std::u32string_view text,
                                                          const StructuralLayout& layout,
                                                          const StructuralLimits& limits);

/// Ends of the sentences of `text`, each behind its trailing white space; the last is the text's end. Empty
/// text has none.
[[nodiscard]] std::vector<std::int64_t> sentence_ends(std::u32string_view text);

/// What Python's str.isspace() calls white space.
[[nodiscard]] bool is_blank(char32_t code_point) noexcept;

}  // namespace pincite
