#include "vector_search.hpp"

#include <limits>
#include <string>

#include "pincite/vectors.hpp"

namespace pincite::bind {

std::vector<float> checked_queries(std::span<const float> values, std::size_t count, std::size_t given_dim,
                                   std::size_t dim, bool normalize, bool numbered) {
  std::vector<float> out;
  out.reserve(count * dim);
  for (std::size_t q = 0; q < count; ++q) {
    const std::string who = numbered ? "query " + std::to_string(q) : "query";
    const std::vector<float> query =
        checked_query(values.subspan(q * given_dim, given_dim), dim, normalize, who);
    out.insert(out.end(), query.begin(), query.end());
  }
  return out;
}

HitColumns HitColumns::batch(std::size_t queries, std::size_t k, std::size_t rows) {
  check_columns(queries, k, rows);
  HitColumns out;
  out.padded_ = true;
  out.k_ = k;
  out.ids_.reserve(queries * k);
  out.scores_.reserve(queries * k);
  out.counts_.reserve(queries);
  return out;
}

void HitColumns::add(std::span<const Hit<float>> hits) {
  for (const Hit<float>& hit : hits) {
    ids_.push_back(hit.id);
    scores_.push_back(hit.score);
  }
  counts_.push_back(static_cast<std::int64_t>(hits.size()));
  if (padded_) {
    ids_.resize(counts_.size() * k_, -1);
    scores_.resize(counts_.size() * k_, -std::numeric_limits<float>::infinity());
  }
}

std::pair<py::array_t<std::int64_t>, py::array_t<float>> HitColumns::to_python() && {
  if (!padded_) return {array_from(std::move(ids_)), array_from(std::move(scores_))};
  const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(counts_.size()),
                                          static_cast<py::ssize_t>(k_)};
  return {array_from(std::move(ids_), shape), array_from(std::move(scores_), shape)};
}

}  // namespace pincite::bind
