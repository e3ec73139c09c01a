// A query against a small index: nothing throws but bytes that are no UTF-8, and pruning changes nothing.
#include <cstdlib>
#include <string>
#include <vector>

#include "pincite/bm25.hpp"
#include "pincite/error.hpp"

namespace {

pincite::BM25Index small_index() {
  const pincite::BM25Params params;
  pincite::BM25Builder builder(params.analyzer, 1);
  for (const std::string_view text :
       {"the windy city", "windy days in the city of wind", "", "数据库 系统", "a a a b"}) {
    builder.add(std::vector<std::string_view>{text});
  }
  return builder.finish(params);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto view = small_index().view();
  const std::string_view query(reinterpret_cast<const char*>(data), size);
  for (const bool operators : {false, true}) {
    try {
      const auto pruned = view->search(query, {.k = 3, .operators = operators});
      const auto all = view->search(query, {.k = 3, .operators = operators, .exhaustive = true});
      if (pruned.size() != all.size()) std::abort();
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (pruned[i].id != all[i].id || pruned[i].score != all[i].score) std::abort();
      }
      (void)view->explain(query, 1, {.operators = operators});
      (void)pincite::highlights("windy 数据库 a a b", query, pincite::Analyzer::unicode, operators);
    } catch (const pincite::InvalidInputError&) {
    }
  }
  return 0;
}
