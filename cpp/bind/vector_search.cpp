#include "vector_search.hpp"

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

}  // namespace pincite::bind
