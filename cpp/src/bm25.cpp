#include "pincite/bm25.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "bm25_data.hpp"
#include "bm25_query.hpp"
#include "bm25_ranking.hpp"
#include "bm25_score.hpp"
#include "parallel.hpp"
#include "pincite/error.hpp"

namespace pincite {
namespace {

constexpr std::uint32_t df_unknown = std::numeric_limits<std::uint32_t>::max();

std::size_t count_visible(std::span<const std::uint32_t> ids, const std::optional<Bitmap>& visible) {
  if (!visible) return ids.size();
  return static_cast<std::size_t>(
      std::count_if(ids.begin(), ids.end(), [&](std::uint32_t id) { return visible->test(id); }));
}

}  // namespace

void bm25::Data::make_tables() {
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const Postings list = postings(t);
    if (list.ids.size() < table_worthy(n_docs, n_fields)) continue;
    TfTable& table = tables[static_cast<std::uint32_t>(t)];
    table.resize(n_docs * n_fields);
    const std::uint32_t* tf = list.tfs.data();
    for (const std::uint32_t id : list.ids) {
      for (std::size_t f = 0; f < n_fields; ++f, ++tf) {
        table[id * n_fields + f] = static_cast<std::uint8_t>(std::min<std::uint32_t>(*tf, in_postings));
      }
    }
  }
}

BM25View::BM25View(std::shared_ptr<const bm25::Data> data, std::optional<Bitmap> visible)
    : data_(std::move(data)), visible_(std::move(visible)) {
  const std::size_t n_fields = data_->n_fields;
  if (visible_ && visible_->size() != data_->n_docs) {
    throw InvalidInputError("visible speaks of " + std::to_string(visible_->size()) +
                            " documents, the index has " + std::to_string(data_->n_docs));
  }
  n_docs_ = visible_ ? visible_->count() : data_->n_docs;
  tokens_.resize(n_fields);
  for (std::size_t row = 0; row < data_->lengths.size(); ++row) {
    if (!visible_ || visible_->test(row / n_fields)) tokens_[row % n_fields] += data_->lengths[row];
  }
  mean_lengths_ = bm25::mean_lengths(tokens_, n_docs_);
  gains_ = bm25::gains(*data_, mean_lengths_);
  if (visible_) {
    df_cache_ = std::make_unique<std::atomic<std::uint32_t>[]>(data_->terms.size());
    for (std::size_t t = 0; t < data_->terms.size(); ++t)
      df_cache_[t].store(df_unknown, std::memory_order_relaxed);
  }
}

std::size_t BM25View::document_frequency(const bm25::QueryTerm& term) const {
  if (!df_cache_ || term.term == bm25::QueryTerm::no_term) return count_visible(term.postings.ids, visible_);
  std::atomic<std::uint32_t>& cached = df_cache_[term.term];
  std::uint32_t df = cached.load(std::memory_order_relaxed);
  if (df == df_unknown) {  // threads that meet here compute the same number
    df = static_cast<std::uint32_t>(count_visible(term.postings.ids, visible_));
    cached.store(df, std::memory_order_relaxed);
  }
  return df;
}

bm25::Ranking BM25View::ranking(std::string_view query, const BM25Options& options) const {
  const bm25::Data* const index = data_.get();
  std::vector<bm25::RankedTerm> terms;
  for (auto& [clause, label, count] : bm25::distinct(
           bm25::parse_query(query, index->params.analyzer, options.operators), {&index, 1}, options.stems)) {
    bm25::QueryTerm term = bm25::resolve(clause, *index);
    const std::size_t df = document_frequency(term);
    terms.push_back({std::move(term), std::move(label), count, df, bm25::idf(n_docs_, df)});
  }
  return {{*data_, visible_ ? &*visible_ : nullptr, mean_lengths_, gains_}, std::move(terms)};
}

std::vector<Hit<double>> BM25View::search(std::string_view query, const BM25Options& options) const {
  if (options.k == 0) throw InvalidInputError("k is 0, wanted at least 1");
  return ranking(query, options).search(options);
}

std::vector<std::vector<Hit<double>>> BM25View::search_batch(std::span<const std::string_view> queries,
                                                             const BM25Options& options,
                                                             std::size_t threads) const {
  std::vector<std::vector<Hit<double>>> out(queries.size());
  std::atomic<std::size_t> next = 0;
  const std::size_t parts = std::clamp<std::size_t>(std::min(threads, queries.size()), 1, max_threads);
  run_parts(parts, [&](std::size_t) {
    for (std::size_t i = next++; i < queries.size(); i = next++) out[i] = search(queries[i], options);
  });
  return out;
}

std::vector<BM25Contribution> BM25View::explain(std::string_view query, std::size_t id,
                                                const BM25Options& options) const {
  if (id >= data_->n_docs || !sees(static_cast<std::uint32_t>(id))) {
    throw InvalidInputError("id is " + std::to_string(id) + ", wanted one of the " + std::to_string(n_docs_) +
                            (visible_ ? " visible documents" : " documents of the index, numbered from 0"));
  }
  const auto doc = static_cast<std::uint32_t>(id);
  const bm25::Ranking prepared = ranking(query, options);
  std::vector<BM25Contribution> out;
  for (const bm25::RankedTerm& term : prepared.terms()) {
    const std::size_t n = data_->n_fields;
    const bm25::Postings& postings = term.query.postings;
    BM25Contribution entry{term.label,
                           term.count,
                           std::vector<std::uint32_t>(n),
                           term.df,
                           term.idf,
                           0.0,
                           std::vector<std::vector<std::uint32_t>>(n)};
    const auto found = std::lower_bound(postings.ids.begin(), postings.ids.end(), doc);
    if (found != postings.ids.end() && *found == doc) {
      const auto at = static_cast<std::size_t>(found - postings.ids.begin());
      std::size_t position = 0;
      for (const std::uint32_t tf : postings.tfs.first(at * n)) position += tf;
      for (std::size_t f = 0; f < n; ++f) {
        entry.tf[f] = postings.tfs[at * n + f];
        const auto places = postings.positions.subspan(position, entry.tf[f]);
        entry.positions[f].assign(places.begin(), places.end());
        position += entry.tf[f];
      }
      entry.score = prepared.score(term, doc, postings.tfs.subspan(at * n, n));
    }
    out.push_back(std::move(entry));
  }
  return out;
}

std::size_t BM25View::n_rows() const noexcept { return data_->n_docs; }

BM25Index::BM25Index(std::shared_ptr<const bm25::Data> data) : data_(std::move(data)) {}

std::size_t BM25Index::size() const noexcept { return data_->n_docs; }
std::size_t BM25Index::n_terms() const noexcept { return data_->terms.size(); }
const BM25Params& BM25Index::params() const noexcept { return data_->params; }

std::shared_ptr<const BM25View> BM25Index::view(std::optional<Bitmap> visible) const {
  return std::make_shared<const BM25View>(data_, std::move(visible));
}

std::vector<std::string> BM25Index::unknown_words(std::string_view query, bool operators) const {
  const bm25::Data* const index = data_.get();
  return bm25::unknown_words(bm25::parse_query(query, index->params.analyzer, operators), {&index, 1});
}

}  // namespace pincite
