// The documents of one index, ranked by a query under given statistics: those of the documents it shows, or
// of several indexes that are searched as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bm25_data.hpp"
#include "bm25_query.hpp"
#include "pincite/topk.hpp"

namespace pincite::bm25 {

/// Of `n_docs` documents with so many tokens in all, a field. 0 where there are none.
[[nodiscard]] std::vector<double> mean_lengths(std::span<const std::uint64_t> tokens, std::size_t n_docs);

/// boost / length norm in float32, (documents, fields): what the pruned pass looks up.
[[nodiscard]] std::vector<float> gains(const Data& data, std::span<const double> mean_lengths);

/// An index and the statistics that its scores are to have. All views.
struct Lens {
  const Data& data;
  const Bitmap* visible;                 // null: all
  std::span<const double> mean_lengths;  // a field
  std::span<const float> gains;
};

struct RankedTerm {
  QueryTerm query;
  std::string label;
  std::uint32_t count;  // how often the query holds it
  std::size_t df;
  double idf;
};

class Ranking {
 public:
  Ranking(const Lens& lens, std::vector<RankedTerm> terms) : lens_(lens), terms_(std::move(terms)) {}

  [[nodiscard]] std::span<const RankedTerm> terms() const noexcept { return terms_; }

  /// The k best, best first; only those that score at least `floor`.
  [[nodiscard]] std::vector<Hit<double>> search(const BM25Options& options, double floor = 0.0) const;

  /// What a term that stands `tfs[f]` times in field f of document `id` adds to its score.
  [[nodiscard]] double score(const RankedTerm& term, std::uint32_t id,
                             std::span<const std::uint32_t> tfs) const;

 private:
  [[nodiscard]] std::vector<double> scores(std::span<const std::uint32_t> ids) const;
  [[nodiscard]] std::vector<std::uint32_t> candidates(const BM25Options& options, double floor) const;
  [[nodiscard]] std::vector<std::uint32_t> matching(const Bitmap* allowed) const;
  [[nodiscard]] double largest_tf(const RankedTerm& term) const;

  Lens lens_;
  std::vector<RankedTerm> terms_;
};

}  // namespace pincite::bm25
