#include "pincite/bm25.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "bm25_data.hpp"
#include "bm25_prune.hpp"
#include "bm25_query.hpp"
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
    if (list.ids.size() < table_worthy(n_docs)) continue;
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

// One query against one view: its terms with their statistics.
class BM25Query {
 public:
  struct Term {
    bm25::QueryTerm query;
    std::size_t df;
    double idf;
  };

  BM25Query(const BM25View& view, std::string_view query, const BM25Options& options)
      : view_(view), data_(*view.data_) {
    const auto clauses = bm25::parse_query(query, data_.params.analyzer, options.operators);
    for (bm25::QueryTerm& term : bm25::resolve(clauses, data_, options.stems)) {
      const std::size_t df = view.document_frequency(term);
      terms_.push_back({std::move(term), df, bm25::idf(view.n_docs_, df)});
    }
  }

  [[nodiscard]] std::span<const Term> terms() const noexcept { return terms_; }

  [[nodiscard]] double score(const Term& term, std::uint32_t id, std::span<const std::uint32_t> tfs) const {
    const std::size_t n = data_.n_fields;
    return bm25::term_score(data_.params, view_.mean_lengths_, tfs, data_.lengths.subspan(id * n, n),
                            term.idf, term.query.count);
  }

  /// The scores of `ids`, which ascend.
  [[nodiscard]] std::vector<double> scores(std::span<const std::uint32_t> ids) const {
    const std::size_t n = data_.n_fields;
    std::vector<double> out(ids.size(), 0.0);
    std::vector<std::uint32_t> tfs(n);
    for (const Term& term : terms_) {
      const bm25::Postings& postings = term.query.postings;
      const auto table = data_.table(term.query.term);
      auto at = postings.ids.begin();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!table.empty()) {
          const auto row = table.subspan(ids[i] * n, n);
          std::copy(row.begin(), row.end(), tfs.begin());
          if (std::all_of(row.begin(), row.end(), [](std::uint8_t tf) { return tf == 0; })) continue;
          if (std::find(row.begin(), row.end(), bm25::in_postings) == row.end()) {
            out[i] += score(term, ids[i], tfs);
            continue;
          }
        }
        at = std::lower_bound(at, postings.ids.end(), ids[i]);
        if (at == postings.ids.end()) break;
        const auto posting = static_cast<std::size_t>(at - postings.ids.begin());
        if (*at == ids[i]) out[i] += score(term, ids[i], postings.tfs.subspan(posting * n, n));
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<std::uint32_t> candidates(const BM25Options& options) const {
    if (options.exhaustive) return matching(options.allowed);
    std::vector<bm25::Impacts> impacts;
    for (const Term& term : terms_) {
      if (term.df == 0) continue;
      const double weight = term.query.count * term.idf * (data_.params.k1 + 1.0);
      const double tf = largest_tf(term);
      const double bound = weight * tf / (data_.params.k1 + tf);
      impacts.push_back({term.query.postings.ids, term.query.postings.tfs, data_.table(term.query.term),
                         static_cast<float>(weight), static_cast<float>(bound)});
    }
    return bm25::candidates(std::move(impacts), options.k,
                            {view_.gains_, data_.n_fields, static_cast<float>(data_.params.k1),
                             pointer(view_.visible_), options.allowed});
  }

 private:
  [[nodiscard]] static const Bitmap* pointer(const std::optional<Bitmap>& bitmap) {
    return bitmap ? &*bitmap : nullptr;
  }

  // An upper bound of tf~ over the postings of a term: exact for one field.
  [[nodiscard]] double largest_tf(const Term& term) const {
    const std::size_t n = data_.n_fields;
    double sum = 0.0;
    for (std::size_t f = 0; f < n; ++f) {
      double most = 0.0;
      const auto raise = [&](std::uint32_t tf, std::uint32_t length) {
        // A mean of 0 is that of a view without a token in this field; nothing it sees has a tf there.
        if (tf == 0 || view_.mean_lengths_[f] == 0.0) return;
        most = std::max(most, tf * bm25::gain(data_.params.fields[f].boost, data_.params.b, length,
                                              view_.mean_lengths_[f]));
      };
      if (term.query.term != bm25::QueryTerm::no_term) {
        const std::size_t row = term.query.term * n + f;
        const auto first = static_cast<std::size_t>(data_.frontier_offsets[row]);
        const auto last = static_cast<std::size_t>(data_.frontier_offsets[row + 1]);
        for (const bm25::FrontierPoint& point : data_.frontier.subspan(first, last - first))
          raise(point.tf, point.length);
      } else {
        const auto& postings = term.query.postings;
        for (std::size_t i = 0; i < postings.ids.size(); ++i) {
          raise(postings.tfs[i * n + f], data_.lengths[postings.ids[i] * n + f]);
        }
      }
      sum += most;
    }
    return sum;
  }

  [[nodiscard]] std::vector<std::uint32_t> matching(const Bitmap* allowed) const {
    Bitmap found(data_.n_docs);
    for (const Term& term : terms_) {
      for (const std::uint32_t id : term.query.postings.ids) {
        if (view_.sees(id) && (allowed == nullptr || allowed->test(id))) found.set(id);
      }
    }
    std::vector<std::uint32_t> ids;
    found.for_each([&](std::uint32_t id) { ids.push_back(id); });
    return ids;
  }

  const BM25View& view_;
  const bm25::Data& data_;
  std::vector<Term> terms_;
};

BM25View::BM25View(std::shared_ptr<const bm25::Data> data, std::optional<Bitmap> visible)
    : data_(std::move(data)), visible_(std::move(visible)) {
  const std::size_t n_fields = data_->n_fields;
  if (visible_ && visible_->size() != data_->n_docs) {
    throw InvalidInputError("visible speaks of " + std::to_string(visible_->size()) +
                            " documents, the index has " + std::to_string(data_->n_docs));
  }
  n_docs_ = visible_ ? visible_->count() : data_->n_docs;
  std::vector<std::uint64_t> totals(n_fields);
  for (std::size_t row = 0; row < data_->lengths.size(); ++row) {
    if (!visible_ || visible_->test(row / n_fields)) totals[row % n_fields] += data_->lengths[row];
  }
  for (const std::uint64_t total : totals) {
    mean_lengths_.push_back(n_docs_ == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(n_docs_));
  }
  gains_.resize(data_->lengths.size());
  for (std::size_t row = 0; row < gains_.size(); ++row) {
    const std::size_t field = row % n_fields;
    const double boost = data_->params.fields[field].boost;
    // A mean of 0 says that no visible document has a token here; what is then looked up is not visible.
    const double gain = mean_lengths_[field] == 0.0 || data_->lengths[row] == 0
                            ? boost
                            : bm25::gain(boost, data_->params.b, data_->lengths[row], mean_lengths_[field]);
    gains_[row] = static_cast<float>(gain);
  }
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

std::vector<Hit<double>> BM25View::search(std::string_view query, const BM25Options& options) const {
  if (options.k == 0) throw InvalidInputError("k is 0, wanted at least 1");
  const BM25Query prepared(*this, query, options);
  const std::vector<std::uint32_t> ids = prepared.candidates(options);
  const std::vector<double> scores = prepared.scores(ids);
  TopK<double> top(options.k);
  for (std::size_t i = 0; i < ids.size(); ++i) top.offer({ids[i], scores[i]});
  return top.take();
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
  const BM25Query prepared(*this, query, options);
  std::vector<BM25Contribution> out;
  for (const BM25Query::Term& term : prepared.terms()) {
    const std::size_t n = data_->n_fields;
    const bm25::Postings& postings = term.query.postings;
    BM25Contribution entry{term.query.label,
                           term.query.count,
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
  std::vector<std::string> out;
  for (const bm25::Clause& clause : bm25::parse_query(query, data_->params.analyzer, operators)) {
    for (const bm25::QueryWord& word : clause) {
      if (data_->stemmed() && !word.prefix && !data_->words.find(word.text)) out.push_back(word.text);
    }
  }
  return out;
}

}  // namespace pincite
