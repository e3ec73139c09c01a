// Any bytes as a flat index, in each storage: refused with an error of ours, or searched to an answer or one.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "hostile_file.hpp"
#include "pincite/error.hpp"
#include "pincite/flat.hpp"

namespace {

void check(const std::vector<pincite::Hit<float>>& hits, std::size_t size) {
  for (const auto& hit : hits) {
    if (hit.id >= size || !std::isfinite(hit.score)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::HostileFile file(data, size);
  try {
    const auto index = file.load([](const auto& path) { return pincite::FlatIndex::load(path); });
    const std::size_t rows = index.vectors().size();
    const std::size_t dim = index.vectors().dim();
    if (dim > 4096) return 0;  // no rows, but queries as long as it says
    std::vector<float> queries(2 * dim, 1.0F / std::sqrt(static_cast<float>(dim)));
    std::fill(queries.begin(), queries.begin() + static_cast<std::ptrdiff_t>(dim), 0.0F);
    queries[0] = 1.0F;
    pincite::Bitmap even(rows);
    for (std::size_t row = 0; row < rows; row += 2) even.set(row);
    for (const auto& hits : index.search(queries, 3)) check(hits, rows);
    for (const auto& hits :
         index.search(std::span(queries).first(dim), 3, &even, 1, pincite::default_kernel(), 0.5F))
      check(hits, rows);
  } catch (const pincite::Error&) {  // what a damaged file is answered with
  }
  return 0;
}
