// Several BM25 indexes, searched as if they were one: N, df and mean lengths are those of all documents that
// any of them shows, so scores are, to the bit, those of one index of these documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pincite/bitmap.hpp"
#include "pincite/bm25.hpp"
#include "pincite/topk.hpp"

namespace pincite {

/// Immutable, safe to search from any number of threads. Making one costs one pass over the documents'
/// lengths.
class BM25Collection {
 public:
  /// Throws InvalidInputError unless the parts have equal parameters.
  explicit BM25Collection(std::vector<std::shared_ptr<const BM25View>> parts);

  /// The k best of each part, by their numbers there, as far as they can be among the k best of all: none
  /// scores less than the k-th best of all does. `allowed` has a filter or null for each part, or is empty;
  /// `options.allowed` is not looked at.
  [[nodiscard]] std::vector<std::vector<Hit<double>>> search(
      std::string_view query, const BM25Options& options, std::span<const Bitmap* const> allowed = {}) const;

  /// The visible documents in which the words of `text` stand in a row, in one field.
  [[nodiscard]] std::size_t document_frequency(std::string_view text, const Stems* stems = nullptr) const;

  /// The words of a query that no part has a stem for.
  [[nodiscard]] std::vector<std::string> unknown_words(std::string_view query, bool operators) const;

  /// The visible documents, of all parts.
  [[nodiscard]] std::size_t visible_count() const noexcept { return n_docs_; }
  [[nodiscard]] std::span<const std::shared_ptr<const BM25View>> parts() const noexcept { return parts_; }

 private:
  [[nodiscard]] Analyzer analyzer() const noexcept;

  std::vector<std::shared_ptr<const BM25View>> parts_;
  std::vector<const bm25::Data*> indexes_;  // of the parts
  std::size_t n_docs_ = 0;
  std::vector<double> mean_lengths_;       // a field
  std::vector<std::vector<float>> gains_;  // a part
};

}  // namespace pincite
