// hnswlib prunes links one way, so that now and then no search ends at a row (its issue 579 and others report
// it). Here every row searches for itself; where it is not found, the row that came out best gets a link to
// it. That row is then expanded by the same search, which scores the lost one.
#include <algorithm>
#include <atomic>
#include <utility>

#include "hnsw_graph.hpp"
#include "parallel.hpp"
#include "pincite/kernels.hpp"

namespace pincite {
namespace {

constexpr std::size_t chunk = 256;
constexpr int max_rounds =
    8;  // a new link can lead another search elsewhere; rounds after the third were not seen

using Link = std::pair<std::uint32_t, std::uint32_t>;  // from, to

// The links that lead to the rows that do not find themselves, in order.
std::vector<Link> missing_links(const Vectors& vectors, const HnswGraph& graph, std::size_t threads) {
  const std::size_t n = vectors.size();
  const Kernel& kernel = default_kernel();
  const std::size_t parts = std::clamp<std::size_t>(threads, 1, std::min(n / chunk + 1, max_threads));
  std::vector<std::vector<Link>> found(parts);
  std::atomic<std::size_t> next = 0;
  run_parts(parts, [&](std::size_t part) {
    HnswScratch scratch;
    for (std::size_t begin = chunk * next++; begin < n; begin = chunk * next++) {
      for (std::size_t row = begin; row < std::min(begin + chunk, n); ++row) {
        const float* self = vectors.row(row);
        const float own = kernel.dot(self, self, vectors.dim());
        const Hit<float> best =
            search_graph(vectors, graph, self, 1, default_ef, nullptr, scratch, own).hits[0];
        if (best.score < own) {
          found[part].emplace_back(best.id, static_cast<std::uint32_t>(row));
        }
      }
    }
  });
  std::vector<Link> all;
  for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return all;
}

void add_links(HnswArrays& arrays, const std::vector<Link>& added) {
  std::vector<std::uint32_t> links;
  links.reserve(arrays.base_links.size() + added.size());
  auto next = added.begin();
  for (std::size_t row = 0; row + 1 < arrays.base_offsets.size(); ++row) {
    const auto begin = arrays.base_links.begin() + static_cast<std::ptrdiff_t>(arrays.base_offsets[row]);
    const auto end = arrays.base_links.begin() + static_cast<std::ptrdiff_t>(arrays.base_offsets[row + 1]);
    arrays.base_offsets[row] = links.size();
    links.insert(links.end(), begin, end);
    for (; next != added.end() && next->first == row; ++next) links.push_back(next->second);
  }
  arrays.base_offsets.back() = links.size();
  arrays.base_links = std::move(links);
}

}  // namespace

std::size_t repair_graph(const Vectors& vectors, std::shared_ptr<HnswArrays> arrays, std::size_t threads) {
  std::size_t added = 0;
  for (int round = 0; round < max_rounds && vectors.size() > 0; ++round) {
    const std::vector<Link> links = missing_links(vectors, view_of(arrays), threads);
    if (links.empty()) break;
    add_links(*arrays, links);
    added += links.size();
  }
  return added;
}

}  // namespace pincite
