#include "pincite/hnsw.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "hnsw_graph.hpp"
#include "parallel.hpp"
#include "pincite/error.hpp"
#include "pincite/kernels.hpp"

namespace pincite {
namespace {

void check_range(const char* name, std::size_t value, std::size_t low, std::size_t high) {
  if (value < low || value > high) {
    throw InvalidInputError(std::string(name) + " is " + std::to_string(value) + ", wanted " +
                            std::to_string(low) + " to " + std::to_string(high));
  }
}

// A search that keeps `ef` rows scores about ef * m of them, and n / allowed times as many under a filter; a
// scan scores each allowed row once. Measured: docs/adr/006-hnsw.md.
bool scan_is_cheaper(std::size_t n, std::size_t allowed, std::size_t ef, std::size_t m) {
  const double share = static_cast<double>(allowed) / static_cast<double>(n);
  return static_cast<double>(allowed) * share <= static_cast<double>(ef) * static_cast<double>(m);
}

HnswAnswer scan(const Vectors& vectors, const float* query, std::size_t k, const Bitmap* allowed) {
  const Kernel& kernel = default_kernel();
  TopK<float> best(k);
  HnswAnswer answer;
  answer.exact = true;
  const auto offer = [&](std::uint32_t row) {
    const float score = kernel.dot(query, vectors.row(row), vectors.dim());
    if (!(score - score == 0.0F)) {  // NaN or an infinity
      throw IndexCorruptError("row " + std::to_string(row) +
                              " of the graph's vectors is no vector of norm 1; build the index again");
    }
    best.offer({row, score});
    ++answer.scored;
  };
  if (allowed != nullptr) {
    allowed->for_each(offer);
  } else {
    for (std::size_t row = 0; row < vectors.size(); ++row) offer(static_cast<std::uint32_t>(row));
  }
  answer.hits = best.take();
  return answer;
}

}  // namespace

HnswGraph view_of(std::shared_ptr<const HnswArrays> arrays) {
  HnswGraph graph;
  graph.base_offsets = arrays->base_offsets;
  graph.base_links = arrays->base_links;
  graph.upper_lists = arrays->upper_lists;
  graph.upper_offsets = arrays->upper_offsets;
  graph.upper_links = arrays->upper_links;
  graph.entry = arrays->entry;
  graph.owner = std::move(arrays);
  return graph;
}

HnswIndex HnswIndex::build(std::shared_ptr<const Vectors> vectors, const HnswOptions& options) {
  check_range("m", options.m, 2, 128);
  check_range("ef_construction", options.ef_construction, 1, 65536);
  check_range("threads", options.threads, 1, static_cast<std::size_t>(-1));
  HnswIndex out;
  const auto arrays = std::make_shared<HnswArrays>(build_graph(*vectors, options));
  out.repairs_ = repair_graph(*vectors, arrays, options.threads);
  out.graph_ = view_of(arrays);
  out.vectors_ = std::move(vectors);
  out.m_ = options.m;
  out.ef_construction_ = options.ef_construction;
  return out;
}

std::vector<HnswAnswer> HnswIndex::search(std::span<const float> queries, std::size_t k, std::size_t ef,
                                          const Bitmap* allowed, std::size_t threads, HnswPath path) const {
  constexpr std::size_t any = static_cast<std::size_t>(-1);
  check_range("k", k, 1, any);
  check_range("ef", ef, 1, any);
  check_range("threads", threads, 1, any);
  const std::size_t n = vectors_->size();
  const std::size_t dim = vectors_->dim();
  const std::size_t candidates = allowed == nullptr ? n : allowed->count();
  const std::size_t wanted = std::min(k, candidates);
  const bool scans = n == 0 || path == HnswPath::exact ||
                     (path == HnswPath::automatic && scan_is_cheaper(n, candidates, std::max(ef, k), m_));
  const std::size_t count = queries.size() / dim;
  std::vector<HnswAnswer> out(count);
  std::atomic<std::size_t> next = 0;
  run_parts(std::min({threads, std::max<std::size_t>(count, 1), max_threads}), [&](std::size_t) {
    HnswScratch scratch;
    for (std::size_t q = next++; q < count; q = next++) {
      const float* query = queries.data() + q * dim;
      if (!scans) out[q] = search_graph(*vectors_, graph_, query, wanted, ef, allowed, scratch);
      if (out[q].hits.size() < wanted) out[q] = scan(*vectors_, query, k, allowed);
      if (scans) out[q].exact = true;
    }
  });
  return out;
}

}  // namespace pincite
