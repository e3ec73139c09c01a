// The only file that knows hnswlib: it builds the graph there and copies it out.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <random>
#include <stdexcept>
#include <vector>

// hnswlib's SSE prefetch reads past a full link list; without it the graph is the same.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include "hnsw_graph.hpp"
#include "parallel.hpp"
#include "pincite/kernels.hpp"

namespace {

thread_local int level_of_next = 0;  // of the point that this thread inserts

}  // namespace

// Where hnswlib draws a level, its threads race for one generator: here, all were drawn before (`levels`).
template <>
int hnswlib::HierarchicalNSW<float>::getRandomLevel(double) {
  return level_of_next;
}

namespace pincite {
namespace {

struct Rows {
  const Vectors& vectors;
  const Kernel& kernel;
};

// The negated dot product: the order of 1 - dot without its rounding, so that it is exactly the scores'
// order.
float distance(const void* a, const void* b, const void* rows) {
  const Rows& all = *static_cast<const Rows*>(rows);
  const std::uint32_t i = *static_cast<const std::uint32_t*>(a);
  const std::uint32_t j = *static_cast<const std::uint32_t*>(b);
  return -all.kernel.dot(all.vectors.row(i), all.vectors.row(j), all.vectors.dim());
}

// hnswlib stores four bytes a point, the row's number, and asks for distances between such numbers.
class RowSpace final : public hnswlib::SpaceInterface<float> {
 public:
  explicit RowSpace(const Vectors& vectors) : rows_{vectors, default_kernel()} {}
  size_t get_data_size() override { return sizeof(std::uint32_t); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance; }
  void* get_dist_func_param() override { return &rows_; }

 private:
  Rows rows_;
};

using Builder = hnswlib::HierarchicalNSW<float>;

// The levels that hnswlib would have drawn for the rows, one after the other.
std::vector<int> levels(Builder& builder, std::size_t n) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<int> out(n);
  for (int& level : out)
    level = static_cast<int>(-std::log(uniform(builder.level_generator_)) * builder.mult_);
  return out;
}

void insert(Builder& builder, std::size_t row, int level) {
  const auto id = static_cast<std::uint32_t>(row);
  level_of_next = level;
  builder.addPoint(&id, row);
}

// Row numbers instead of hnswlib's own, which follow the order in which points arrived.
void copy_links(const Builder& builder, hnswlib::tableint point, int level, std::vector<std::uint32_t>& links,
                std::vector<std::uint64_t>& offsets) {
  const hnswlib::linklistsizeint* list = builder.get_linklist_at_level(point, level);
  const std::size_t count = builder.getListCount(const_cast<hnswlib::linklistsizeint*>(list));
  for (std::size_t i = 1; i <= count; ++i) {
    links.push_back(static_cast<std::uint32_t>(builder.getExternalLabel(list[i])));
  }
  offsets.push_back(links.size());
}

HnswArrays freeze(const Builder& builder, std::size_t n) {
  std::vector<hnswlib::tableint> point_of(n);
  for (std::size_t point = 0; point < n; ++point) {
    const auto id = static_cast<hnswlib::tableint>(point);
    point_of[builder.getExternalLabel(id)] = id;
  }
  HnswArrays out;
  for (const hnswlib::tableint point : point_of) {
    copy_links(builder, point, 0, out.base_links, out.base_offsets);
    for (int level = 1; level <= builder.element_levels_[point]; ++level) {
      copy_links(builder, point, level, out.upper_links, out.upper_offsets);
    }
    out.upper_lists.push_back(static_cast<std::uint32_t>(out.upper_offsets.size() - 1));
  }
  out.entry = static_cast<std::uint32_t>(builder.getExternalLabel(builder.enterpoint_node_));
  return out;
}

}  // namespace

HnswArrays build_graph(const Vectors& vectors, const HnswOptions& options) {
  const std::size_t n = vectors.size();
  if (n == 0) return {};
  RowSpace space(vectors);
  Builder builder(&space, n, options.m, options.ef_construction, static_cast<std::size_t>(options.seed));
  const std::vector<int> level = levels(builder, n);
  const std::size_t threads = std::clamp<std::size_t>(options.threads, 1, std::min(n, max_threads));
  // The first point, and each that rises above all before it, becomes the one where searches begin, which
  // hnswlib's threads read without its lock. So the highest comes first, alone, and none rises above it.
  const auto first =
      threads == 1 ? 0 : static_cast<std::size_t>(std::ranges::max_element(level) - level.begin());
  insert(builder, first, level[first]);
  std::atomic<std::size_t> next = 0;
  run_parts(threads, [&](std::size_t) {
    for (std::size_t row = next++; row < n; row = next++)
      if (row != first) insert(builder, row, level[row]);
  });
  return freeze(builder, n);
}

}  // namespace pincite
