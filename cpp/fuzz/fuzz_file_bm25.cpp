// Any bytes as a BM25 index: refused with an error of ours, or asked by words, phrases and prefixes.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "hostile_file.hpp"
#include "pincite/bm25.hpp"
#include "pincite/bm25_collection.hpp"
#include "pincite/error.hpp"

namespace {

void check(const std::vector<pincite::Hit<double>>& hits, std::size_t size) {
  for (const auto& hit : hits) {
    if (hit.id >= size || !std::isfinite(hit.score)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pincite;
  constexpr std::string_view query = "oil on deck \"ship mast\" s*";
  const fuzz::HostileFile file(data, size);
  try {
    const auto [index, all] = file.load([](const auto& path) {
      BM25Index loaded = BM25Index::load(path);
      auto view = loaded.view();
      return std::pair(std::move(loaded), std::move(view));
    });
    (void)index.unknown_words(query, true);
    Bitmap even(index.size());
    for (std::size_t id = 0; id < index.size(); id += 2) even.set(id);
    const auto some = index.view(even);
    check(all->search(query, {.k = 3, .operators = true}), index.size());
    check(all->search(query, {.k = 3, .operators = true, .exhaustive = true}), index.size());
    check(some->search(query, {.k = 3, .operators = true}), index.size());
    for (const auto& hits : BM25Collection({all, some}).search(query, {.k = 3, .operators = true}))
      check(hits, index.size());
    if (index.size() > 0) (void)all->explain(query, 0, {.operators = true});
  } catch (const Error&) {  // what a damaged file is answered with
  }
  return 0;
}
