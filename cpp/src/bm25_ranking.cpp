#include "bm25_ranking.hpp"

#include <algorithm>
#include <utility>

#include "bm25_prune.hpp"
#include "bm25_score.hpp"

namespace pincite::bm25 {

std::vector<double> mean_lengths(std::span<const std::uint64_t> tokens, std::size_t n_docs) {
  std::vector<double> out;
  for (const std::uint64_t total : tokens)
    out.push_back(n_docs == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(n_docs));
  return out;
}

std::vector<float> gains(const Data& data, std::span<const double> mean_lengths) {
  const std::size_t n_fields = data.n_fields;
  std::vector<float> out(data.lengths.size());
  for (std::size_t field = 0; field < n_fields; ++field) {
    const auto boost = static_cast<float>(data.params.fields[field].boost);
    // Finite also where no gain is asked for: at a length of 0, and in a field that no document has a token
    // in.
    const float base = std::max(1e-30F, static_cast<float>(1.0 - data.params.b));
    const double mean = mean_lengths[field];
    const float slope = mean == 0.0 ? 0.0F : static_cast<float>(data.params.b / mean);
    for (std::size_t row = field; row < out.size(); row += n_fields)
      out[row] = boost / (base + slope * static_cast<float>(data.lengths[row]));
  }
  return out;
}

double Ranking::score(const RankedTerm& term, std::uint32_t id, std::span<const std::uint32_t> tfs) const {
  const Data& data = lens_.data;
  return term_score(data.params, lens_.mean_lengths, tfs,
                    data.lengths.subspan(id * data.n_fields, data.n_fields), term.idf, term.count);
}

std::vector<Hit<double>> Ranking::search(const BM25Options& options, double floor) const {
  const std::vector<std::uint32_t> ids =
      options.exhaustive ? matching(options.allowed) : candidates(options, floor);
  const std::vector<double> scored = scores(ids);
  TopK<double> top(options.k);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (scored[i] >= floor) top.offer({ids[i], scored[i]});
  }
  return top.take();
}

// The scores of `ids`, which ascend.
std::vector<double> Ranking::scores(std::span<const std::uint32_t> ids) const {
  const Data& data = lens_.data;
  const std::size_t n = data.n_fields;
  std::vector<double> out(ids.size(), 0.0);
  std::vector<std::uint32_t> tfs(n);
  for (const RankedTerm& term : terms_) {
    const Postings& postings = term.query.postings;
    const auto table = data.table(term.query.term);
    auto at = postings.ids.begin();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!table.empty()) {
        const auto row = table.subspan(ids[i] * n, n);
        std::copy(row.begin(), row.end(), tfs.begin());
        if (std::all_of(row.begin(), row.end(), [](std::uint8_t tf) { return tf == 0; })) continue;
        if (std::find(row.begin(), row.end(), in_postings) == row.end()) {
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

// Ids, ascending, of documents that include those of the k best that score at least `floor`.
std::vector<std::uint32_t> Ranking::candidates(const BM25Options& options, double floor) const {
  const Data& data = lens_.data;
  std::vector<Impacts> impacts;
  for (const RankedTerm& term : terms_) {
    const Postings& postings = term.query.postings;
    if (term.df == 0 || postings.ids.empty()) continue;
    const double weight = term.count * term.idf * (data.params.k1 + 1.0);
    const double tf = largest_tf(term);
    const double bound = weight * tf / (data.params.k1 + tf);
    impacts.push_back({postings.ids, postings.tfs, data.table(term.query.term), static_cast<float>(weight),
                       static_cast<float>(bound)});
  }
  return bm25::candidates(
      std::move(impacts), options.k, static_cast<float>(floor),
      {lens_.gains, data.n_fields, static_cast<float>(data.params.k1), lens_.visible, options.allowed});
}

// An upper bound of tf~ over the postings of a term: exact for one field.
double Ranking::largest_tf(const RankedTerm& term) const {
  const Data& data = lens_.data;
  const std::size_t n = data.n_fields;
  double sum = 0.0;
  for (std::size_t f = 0; f < n; ++f) {
    double most = 0.0;
    const auto raise = [&](std::uint32_t tf, std::uint32_t length) {
      // A mean of 0 is that of documents without a token in this field; none of them has a tf there.
      if (tf == 0 || lens_.mean_lengths[f] == 0.0) return;
      most = std::max(most,
                      tf * gain(data.params.fields[f].boost, data.params.b, length, lens_.mean_lengths[f]));
    };
    if (term.query.term != QueryTerm::no_term) {
      const std::size_t row = term.query.term * n + f;
      const auto first = static_cast<std::size_t>(data.frontier_offsets[row]);
      const auto last = static_cast<std::size_t>(data.frontier_offsets[row + 1]);
      for (const FrontierPoint& point : data.frontier.subspan(first, last - first))
        raise(point.tf, point.length);
    } else {
      const Postings& postings = term.query.postings;
      for (std::size_t i = 0; i < postings.ids.size(); ++i)
        raise(postings.tfs[i * n + f], data.lengths[postings.ids[i] * n + f]);
    }
    sum += most;
  }
  return sum;
}

std::vector<std::uint32_t> Ranking::matching(const Bitmap* allowed) const {
  Bitmap found(lens_.data.n_docs);
  for (const RankedTerm& term : terms_) {
    for (const std::uint32_t id : term.query.postings.ids) {
      if ((lens_.visible == nullptr || lens_.visible->test(id)) && (allowed == nullptr || allowed->test(id)))
        found.set(id);
    }
  }
  std::vector<std::uint32_t> ids;
  found.for_each([&](std::uint32_t id) { ids.push_back(id); });
  return ids;
}

}  // namespace pincite::bm25
