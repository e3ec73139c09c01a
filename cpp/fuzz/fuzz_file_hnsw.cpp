// Any bytes as a graph, with vectors of its own or over given ones: refused with an error of ours, or
// searched.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "hostile_file.hpp"
#include "pincite/error.hpp"
#include "pincite/hnsw.hpp"
#include "small_vectors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pincite;
  static const auto given = fuzz::small_vectors();
  const fuzz::HostileFile file(data, size);
  try {
    const auto index = file.load([&](const auto& path) {
      return file.kind() == "hnsw-graph" ? HnswIndex::load_graph(path, given) : HnswIndex::load(path);
    });
    const std::size_t rows = index.vectors().size();
    const std::size_t dim = index.vectors().dim();
    if (dim > 4096) return 0;  // no rows, but queries as long as it says
    std::vector<float> query(dim, 1.0F / std::sqrt(static_cast<float>(dim)));
    Bitmap even(rows);
    for (std::size_t row = 0; row < rows; row += 2) even.set(row);
    for (const auto* allowed : {static_cast<const Bitmap*>(nullptr), static_cast<const Bitmap*>(&even)}) {
      const std::size_t wanted = std::min<std::size_t>(3, allowed == nullptr ? rows : even.count());
      const auto hits = index.search(query, 3, 5, allowed, 1, HnswPath::graph)[0].hits;
      if (hits.size() != wanted) std::abort();
      for (const auto& hit : hits) {
        if (hit.id >= rows || (allowed != nullptr && !allowed->test(hit.id))) std::abort();
      }
    }
  } catch (const Error&) {  // what a damaged file is answered with
  }
  return 0;
}
