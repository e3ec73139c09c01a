#include <doctest/doctest.h>

#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../src/bm25_data.hpp"
#include "pincite/bm25.hpp"
#include "pincite/error.hpp"

namespace {

using pincite::Bitmap;
using pincite::BM25Builder;
using pincite::BM25Index;
using pincite::BM25Options;
using pincite::BM25Params;

// Words w0, w1, ... of falling frequency; more documents than a window of the pruned search holds.
std::string random_text(std::mt19937& random, std::size_t longest) {
  std::string text;
  for (std::size_t n = random() % (longest + 1); n > 0; --n) {
    const double u = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    text.append(" w").append(std::to_string(static_cast<int>(2000.0 * u * u * u * u)));
  }
  return text;
}

TEST_CASE("bm25: tables take less than twice what their postings take in a file") {
  for (std::size_t n_fields = 1; n_fields <= 64; ++n_fields) {
    for (const std::size_t n_docs : {256U, 2047U, 2055U, 4096U, 4111U, 1U << 20U, (1U << 31U) + 15U}) {
      CAPTURE(n_fields);
      CAPTURE(n_docs);
      // An id, a frequency a field, and at least one position each.
      const std::size_t posting_nbytes = 4 + 4 * n_fields + 4;
      const std::size_t postings = pincite::bm25::table_worthy(n_docs, n_fields);
      CHECK(n_docs * n_fields < 2 * postings * posting_nbytes);
    }
  }
}

BM25Index random_index(std::size_t n_docs, std::size_t n_fields, double k1 = 1.2) {
  std::mt19937 random(11);
  BM25Params params;
  params.k1 = k1;
  params.analyzer = pincite::Analyzer::ascii;
  params.fields.clear();
  for (std::size_t f = 0; f < n_fields; ++f)
    params.fields.push_back({std::to_string(f), 1.0 + static_cast<double>(f)});
  BM25Builder builder(params.analyzer, n_fields);
  for (std::size_t i = 0; i < n_docs; ++i) {
    std::vector<std::string> texts;
    for (std::size_t f = 0; f < n_fields; ++f) texts.push_back(random_text(random, 20));
    builder.add(std::vector<std::string_view>(texts.begin(), texts.end()));
  }
  return builder.finish(params);
}

// Its frequent words have tables of frequencies; the operators make lists that have none.
TEST_CASE("bm25: the pruned search finds what scoring everything finds") {
  const std::vector<std::pair<std::size_t, double>> fields_and_k1 = {{1, 1.2}, {3, 1.2}, {1, 0.0}};
  for (const auto& [n_fields, k1] : fields_and_k1) {
    const BM25Index index = random_index(9000, n_fields, k1);
    Bitmap visible(index.size());
    Bitmap allowed(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (i % 3 != 0) visible.set(i);
      if (i % 7 < 3) allowed.set(i);
    }
    std::mt19937 random(5);
    const auto whole = index.view();
    const auto part = index.view(visible);
    for (int round = 0; round < 60; ++round) {
      std::string query = random_text(random, 12);
      if (round % 3 == 0) query.append(" \"w0 w1\" w19* w0");
      BM25Options options;
      options.k = round % 4 == 0 ? 500 : 10;
      options.operators = true;
      options.allowed = round % 2 == 0 ? &allowed : nullptr;
      for (const auto& view : {whole, part}) {
        options.exhaustive = false;
        const auto pruned = view->search(query, options);
        options.exhaustive = true;
        const auto all = view->search(query, options);
        REQUIRE(pruned.size() == all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
          REQUIRE(pruned[i].id == all[i].id);
          REQUIRE(pruned[i].score == all[i].score);
        }
      }
    }
  }
}

TEST_CASE("bm25: a table that cannot hold a frequency leaves it to the postings") {
  BM25Params params;
  BM25Builder builder(params.analyzer, 1);
  const auto add = [&](const std::string& text) { builder.add(std::vector<std::string_view>{text}); };
  for (int i = 0; i < 20; ++i) add("often seldom");
  for (int i = 0; i < 4980; ++i) add(i < 1000 ? "a b c d e f g h i j k" : "often b c d e f g h i j k");
  std::string longest;  // the best only if "often" counts as more than 255 times
  for (int i = 0; i < 410; ++i) longest += " seldom";
  for (int i = 0; i < 2000; ++i) longest += " often";
  add(longest);
  const BM25Index index = builder.finish(params);
  for (const bool exhaustive : {true, false}) {
    const auto found = index.view()->search("often seldom", {.exhaustive = exhaustive});
    REQUIRE(found.size() == 10);
    CHECK(found[0].id == 5000);
  }
}

TEST_CASE("bm25: threads that share a view find the same") {
  const BM25Index index = random_index(3000, 1);
  Bitmap visible(index.size());
  for (std::size_t i = 0; i < index.size(); i += 2) visible.set(i);
  const auto expected = index.view(visible)->search("w1 w2 w30 w400", {});
  const auto view = index.view(visible);
  std::vector<std::thread> threads;
  std::vector<std::size_t> same(4);
  for (std::size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto found = view->search("w1 w2 w30 w400", {});
        same[t] += found.size() == expected.size() && found[0].id == expected[0].id ? 1U : 0U;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t count : same) CHECK(count == 50);

  const std::vector<std::string_view> queries(20, "w1 w2 w30 w400");
  for (const auto& found : view->search_batch(queries, {}, 4)) CHECK(found.size() == expected.size());
  CHECK_THROWS_AS((void)view->search_batch(queries, {.k = 0}, 4), pincite::InvalidInputError);
}

TEST_CASE("bm25: a document with bad bytes leaves the builder as it was") {
  BM25Params params;
  BM25Builder builder(params.analyzer, 1);
  const std::vector<std::string_view> good = {"one two"};
  const std::vector<std::string_view> two_fields = {"one", "two"};
  builder.add(good);
  CHECK_THROWS_AS(builder.add(two_fields), pincite::InvalidInputError);
  const BM25Index index = builder.finish(params);
  CHECK(index.size() == 1);
  CHECK(index.view()->search("two", {}).size() == 1);
}

}  // namespace
