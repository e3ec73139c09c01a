#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "pincite/bm25_collection.hpp"
#include "pincite/error.hpp"

namespace {

using pincite::Bitmap;
using pincite::BM25Builder;
using pincite::BM25Collection;
using pincite::BM25Index;
using pincite::BM25Options;
using pincite::BM25Params;
using pincite::BM25View;
using Hits = std::vector<pincite::Hit<double>>;

BM25Index index_of(const std::vector<std::string>& texts) {
  BM25Params params;
  BM25Builder builder(params.analyzer, 1);
  for (const std::string& text : texts) builder.add(std::vector<std::string_view>{text});
  return builder.finish(params);
}

std::vector<std::string> random_texts(std::size_t count) {
  std::mt19937 random(8);
  std::vector<std::string> out(count);
  for (std::string& text : out) {
    for (std::size_t n = random() % 20; n > 0; --n) {
      const double u = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
      text.append(" w").append(std::to_string(static_cast<int>(500.0 * u * u * u)));
    }
  }
  return out;
}

// Documents dealt out to parts, every fifth one invisible; the id in `one` of row r of part p is r * parts +
// p.
struct Split {
  static constexpr std::size_t parts = 3;
  std::vector<std::string> texts = random_texts(6000);
  std::shared_ptr<const BM25View> one;
  std::vector<std::shared_ptr<const BM25View>> views;

  Split() {
    Bitmap visible(texts.size());
    std::vector<std::vector<std::string>> dealt(parts);
    std::vector<Bitmap> masks(parts, Bitmap(texts.size() / parts));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      dealt[i % parts].push_back(texts[i]);
      if (i % 5 == 0) continue;
      visible.set(i);
      masks[i % parts].set(i / parts);
    }
    one = index_of(texts).view(visible);
    for (std::size_t p = 0; p < parts; ++p) views.push_back(index_of(dealt[p]).view(masks[p]));
  }
};

Hits merged(const std::vector<Hits>& found, std::size_t k) {
  Hits out;
  for (std::size_t p = 0; p < found.size(); ++p) {
    for (const auto& hit : found[p])
      out.push_back({static_cast<std::uint32_t>(hit.id * found.size() + p), hit.score});
  }
  std::sort(out.begin(), out.end(), pincite::better<double>);
  out.resize(std::min(out.size(), k));
  return out;
}

bool same(const Hits& a, const Hits& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.id == y.id && x.score == y.score; });
}

TEST_CASE("bm25_collection: parts rank as one index does, pruned or not") {
  const Split split;
  const BM25Collection collection(split.views);
  CHECK(collection.visible_count() == split.one->visible_count());
  Bitmap odd(split.texts.size());
  std::vector<Bitmap> odd_rows(Split::parts, Bitmap(split.texts.size() / Split::parts));
  for (std::size_t i = 1; i < split.texts.size(); i += 2) {
    odd.set(i);
    odd_rows[i % Split::parts].set(i / Split::parts);
  }
  const std::vector<const Bitmap*> filters = {&odd_rows[0], &odd_rows[1], &odd_rows[2]};
  for (const char* query :
       {"w0", "w1 w40 w300", "w0 w1 w2 w3 w4 w5 w6", "\"w0 w1\" w2* w0 w0", "nothing", ""}) {
    for (const bool exhaustive : {false, true}) {
      BM25Options options{.k = 20, .operators = true, .exhaustive = exhaustive};
      CHECK(same(merged(collection.search(query, options), 20), split.one->search(query, options)));
      options.allowed = &odd;
      CHECK(same(merged(collection.search(query, options, filters), 20), split.one->search(query, options)));
    }
  }
  CHECK_THROWS_AS((void)collection.search("w0", {.k = 0}), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)collection.search("w0", {}, std::span(filters).first(2)), pincite::InvalidInputError);
}

TEST_CASE("bm25_collection: document frequencies are those of one index") {
  const Split split;
  const BM25Collection collection(split.views);
  for (const char* text : {"w0", "w17", "w0 w1", "w2 w0 w1", "nothing", "..."}) {
    const auto terms = split.one->explain('"' + std::string(text) + '"', 1, {.operators = true});
    CHECK(collection.document_frequency(text) == (terms.empty() ? 0 : terms[0].df));
  }
}

TEST_CASE("bm25_collection: nothing to search") {
  const BM25Collection none({});
  CHECK(none.visible_count() == 0);
  CHECK(none.search("a", {}).empty());
  CHECK(none.document_frequency("a") == 0);
  CHECK(none.unknown_words("a", true).empty());
}

TEST_CASE("bm25_collection: threads that share one find the same") {
  const Split split;
  const Hits expected = split.one->search("w1 w2 w30", {});
  const BM25Collection collection(Split().views);  // no term looked up yet
  std::vector<std::thread> threads;
  std::vector<std::size_t> found(4);
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i)
        found[t] += same(merged(collection.search("w1 w2 w30", {}), 10), expected) ? 1U : 0U;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t count : found) CHECK(count == 20);
}

}  // namespace
