// The inverted index itself: flat arrays, owned or in a memory map.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pincite/bm25.hpp"
#include "string_table.hpp"

namespace pincite::bm25 {

/// The postings of one term: ids ascending; `tfs` is (ids, fields); `positions` holds, posting after posting
/// and field after field, as many ordinals as `tfs` says, ascending within a field.
struct Postings {
  std::span<const std::uint32_t> ids;
  std::span<const std::uint32_t> tfs;
  std::span<const std::uint32_t> positions;
};

/// A posting that no other one of its term beats in one field: none has a higher tf at a length as short. The
/// maximum of tf / (1 - b + b * length / mean) lies on this frontier whatever the mean, so bounds survive a
/// change of statistics.
struct FrontierPoint {
  std::uint32_t tf;
  std::uint32_t length;
};

/// The frequencies of a frequent term by document instead of by posting, to look one up at once: (documents,
/// fields), 0 where it does not stand, `in_postings` where the postings have to say.
using TfTable = std::vector<std::uint8_t>;
inline constexpr std::uint8_t in_postings = 255;

/// A term of at least this many postings has a table. It takes a byte a document and field: with one field at
/// most a third more than the postings, with many less than twice as much, so that a file cannot ask for
/// more.
[[nodiscard]] inline std::size_t table_worthy(std::size_t n_docs, std::size_t n_fields) noexcept {
  return std::max<std::size_t>(256, n_docs / (n_fields == 1 ? 16 : 8));
}

struct Data {
  BM25Params params;
  std::size_t n_docs = 0;
  std::size_t n_fields = 0;
  std::span<const std::uint32_t> lengths;  // tokens, (documents, fields)
  StringTable terms;
  StringTable words;                               // with a stemmer: what was read, before stemming
  std::span<const std::uint32_t> terms_of_words;   // with a stemmer: the term of each word
  std::span<const std::uint64_t> posting_offsets;  // (terms + 1): into ids
  std::span<const std::uint32_t> ids;
  std::span<const std::uint32_t> tfs;
  std::span<const std::uint64_t> position_offsets;  // (terms + 1): into positions
  std::span<const std::uint32_t> positions;
  std::span<const std::uint64_t> frontier_offsets;  // (terms * fields + 1): into frontier
  std::span<const FrontierPoint> frontier;
  std::vector<std::shared_ptr<const void>> owners;
  std::unordered_map<std::uint32_t, TfTable> tables;  // a frequent term's; not in the file

  [[nodiscard]] bool stemmed() const noexcept { return !params.stemmer.empty(); }

  [[nodiscard]] Postings postings(std::size_t term) const noexcept {
    const auto first = static_cast<std::size_t>(posting_offsets[term]);
    const auto count = static_cast<std::size_t>(posting_offsets[term + 1]) - first;
    const auto position = static_cast<std::size_t>(position_offsets[term]);
    return {ids.subspan(first, count), tfs.subspan(first * n_fields, count * n_fields),
            positions.subspan(position, static_cast<std::size_t>(position_offsets[term + 1]) - position)};
  }

  /// The table of a term, empty where it has none.
  [[nodiscard]] std::span<const std::uint8_t> table(std::uint32_t term) const {
    const auto found = tables.find(term);
    return found == tables.end() ? std::span<const std::uint8_t>() : std::span(found->second);
  }

  /// Fills `tables`, once everything else is there.
  void make_tables();

  /// Takes a vector over and gives a view that lives as long as the data.
  template <class T>
  std::span<const T> keep(std::vector<T>&& values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    owners.push_back(owner);
    return *owner;
  }
};

}  // namespace pincite::bm25
