// One query over the frozen graph: greedy on the upper levels, best first on level 0.
#include <algorithm>
#include <cmath>
#include <string>

#include "hnsw_graph.hpp"
#include "pincite/error.hpp"
#include "pincite/kernels.hpp"

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <xmmintrin.h>
#endif

namespace pincite {
namespace {

// How many rows are on their way from memory while one is scored: more than one hides its latency.
constexpr std::size_t ahead = 3;

void prefetch(const float* row, std::size_t dim) noexcept {
  constexpr std::size_t line = 64 / sizeof(float);
  for (std::size_t i = 0; i < dim; i += line) {
#if defined(__GNUC__)
    __builtin_prefetch(row + i);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_prefetch(reinterpret_cast<const char*>(row + i), _MM_HINT_T0);
#endif
  }
}

// Scores rows against one query and counts them.
class Scorer {
 public:
  Scorer(const Vectors& vectors, const float* query)
      : vectors_(vectors), query_(query), dot_(default_kernel().dot) {}

  Hit<float> operator()(std::uint32_t row) {
    ++count_;
    const float score = dot_(query_, vectors_.row(row), vectors_.dim());
    if (!std::isfinite(score)) {
      throw IndexCorruptError("row " + std::to_string(row) +
                              " of the graph's vectors is no vector of norm 1; build the index again");
    }
    return {row, score};
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  const Vectors& vectors_;
  const float* query_;
  float (*dot_)(const float*, const float*, std::size_t);
  std::size_t count_ = 0;
};

// The best row that greedy steps reach on the levels above 0.
Hit<float> descend(const HnswGraph& graph, Scorer& score) {
  Hit<float> best = score(graph.entry);
  for (std::size_t level = graph.level(graph.entry); level > 0; --level) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const std::uint32_t row : graph.links(best.id, level)) {
        const Hit<float> hit = score(row);
        if (better(hit, best)) {
          best = hit;
          moved = true;
        }
      }
    }
  }
  return best;
}

bool worse(const Hit<float>& a, const Hit<float>& b) noexcept { return better(b, a); }

}  // namespace

HnswAnswer search_graph(const Vectors& vectors, const HnswGraph& graph, const float* query, std::size_t k,
                        std::size_t ef, const Bitmap* allowed, HnswScratch& scratch, float enough) {
  Scorer score(vectors, query);
  scratch.visited.assign((vectors.size() + 63) / 64, 0);
  std::vector<Hit<float>>& frontier = scratch.frontier;  // the best on top
  frontier.clear();
  TopK<float> found(std::max(ef, k));

  const auto take = [&](const Hit<float>& hit) {
    if (found.full() && !better(hit, found.worst())) return;
    frontier.push_back(hit);
    std::push_heap(frontier.begin(), frontier.end(), worse);
    // What is not allowed is walked through, never kept.
    if (allowed == nullptr || allowed->test(hit.id)) found.offer(hit);
  };
  const auto first_visit = [&](std::uint32_t row) {
    std::uint64_t& word = scratch.visited[row >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (row & 63);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  };

  const Hit<float> start = descend(graph, score);
  (void)first_visit(start.id);
  take(start);
  float best = start.score;
  while (!frontier.empty() && best < enough) {
    std::pop_heap(frontier.begin(), frontier.end(), worse);
    const Hit<float> nearest = frontier.back();
    frontier.pop_back();
    if (found.full() && better(found.worst(), nearest)) break;
    scratch.fresh.clear();
    for (const std::uint32_t row : graph.links(nearest.id, 0)) {
      if (first_visit(row)) scratch.fresh.push_back(row);
    }
    for (std::size_t i = 0; i < std::min(ahead, scratch.fresh.size()); ++i)
      prefetch(vectors.row(scratch.fresh[i]), vectors.dim());
    for (std::size_t i = 0; i < scratch.fresh.size(); ++i) {
      if (i + ahead < scratch.fresh.size()) prefetch(vectors.row(scratch.fresh[i + ahead]), vectors.dim());
      const Hit<float> hit = score(scratch.fresh[i]);
      best = std::max(best, hit.score);
      take(hit);
    }
  }
  HnswAnswer answer;
  answer.hits = found.take();
  if (answer.hits.size() > k) answer.hits.resize(k);
  answer.scored = score.count();
  return answer;
}

}  // namespace pincite
