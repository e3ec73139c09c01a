// What threads may share, shared by sixteen that begin at once: for ThreadSanitizer, and for the answers.
#include <doctest/doctest.h>

#include <barrier>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "pincite/bm25_collection.hpp"
#include "pincite/chunking.hpp"
#include "pincite/envelope.hpp"
#include "pincite/flat.hpp"
#include "pincite/fusion.hpp"
#include "pincite/hnsw.hpp"
#include "pincite/structural.hpp"
#include "random_unit_rows.hpp"

namespace {

using namespace pincite;
namespace fs = std::filesystem;

constexpr std::size_t n_threads = 16;
constexpr std::size_t n_rows = 1200;
constexpr std::size_t dim = 24;
constexpr auto query = "w1 w2 w30 \"w0 w1\" w4*";

/// What a call found, in numbers.
using Told = std::vector<double>;

template <class Score>
void tell(Told& told, const std::vector<Hit<Score>>& hits) {
  told.push_back(static_cast<double>(hits.size()));
  for (const auto& hit : hits) {
    told.push_back(static_cast<double>(hit.id));
    told.push_back(static_cast<double>(hit.score));
  }
}

void tell(Told& told, const HnswAnswer& answer) { tell(told, answer.hits); }

void tell(Told& told, const Span& span) {
  told.push_back(span.start);
  told.push_back(span.end);
}

template <class Found>
void tell_all(Told& told, const std::vector<Found>& found) {
  for (const auto& each : found) tell(told, each);
}

/// Calls `act` on all threads at once, and afterwards on one: each has to find the same.
template <class Act>
void check_together(const Act& act) {
  std::vector<Told> told(n_threads);
  std::barrier begin(n_threads);
  std::vector<std::thread> threads;
  for (Told& mine : told) {
    threads.emplace_back([&act, &begin, &mine] {
      begin.arrive_and_wait();
      mine = act();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Told expected = act();
  CHECK(!expected.empty());
  for (const Told& each : told) CHECK(each == expected);
}

std::string random_text(std::mt19937& random) {
  std::string text;
  for (std::size_t n = random() % 20; n > 0; --n) {
    const double u = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    text.append(" w").append(std::to_string(static_cast<int>(500.0 * u * u * u)));
  }
  return text;
}

BM25Index random_index(unsigned seed) {
  std::mt19937 random(seed);
  const BM25Params params;
  BM25Builder builder(params.analyzer, 1);
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::string text = random_text(random);
    builder.add(std::vector<std::string_view>{text});
  }
  return builder.finish(params);
}

Bitmap every(std::size_t step) {
  Bitmap some(n_rows);
  for (std::size_t i = 0; i < n_rows; i += step) some.set(i);
  return some;
}

/// A file's place, gone with the test.
class File {
 public:
  explicit File(const char* name) : path_(fs::temp_directory_path() / name) {}
  ~File() { fs::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Before all others of this file: run by itself (-tc="threads: *"), it is the first in the process to choose.
TEST_CASE("threads: the kernel is chosen at the first call") {
  const std::vector<float> ones(dim, 1.0F);
  check_together([&] {
    const Kernel& kernel = default_kernel();
    return Told{kernel.dot(ones.data(), ones.data(), dim), static_cast<double>(available_kernels().size())};
  });
}

TEST_CASE("threads: a file is mapped while it is replaced, and is one or the other") {
  const File file("pincite_threads_envelope");
  const std::vector<std::vector<std::uint64_t>> contents = {std::vector<std::uint64_t>(5000, 3),
                                                            std::vector<std::uint64_t>(7000, 5)};
  const auto write = [&](std::size_t number) {
    EnvelopeWriter writer("test");
    writer.add("values", contents[number]);
    writer.write(file.path());
  };
  write(0);
  std::vector<std::size_t> whole(n_threads);
  std::vector<std::thread> threads;
  for (std::size_t& mine : whole) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto values = Envelope::open(file.path(), "test")->values<std::uint64_t>("values");
        mine += values.size() == 5000 || values.size() == 7000 ? 1U : 0U;
      }
    });
  }
  for (std::size_t i = 1; i < 20; ++i) write(i % 2);
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t count : whole) CHECK(count == 20);
}

TEST_CASE("threads: one mapped BM25 index, its views made and searched at once") {
  const File file("pincite_threads_bm25");
  random_index(1).save(file.path());
  const BM25Index index = BM25Index::load(file.path());
  const Bitmap allowed = every(3);
  const auto shared = index.view(every(2));  // no frequency looked up yet
  check_together([&] {
    Told told;
    for (const auto& view : {shared, index.view(), index.view(every(2))}) {
      BM25Options options{.operators = true};
      tell(told, view->search(query, options));
      for (const auto& each : view->explain(query, 0, options)) told.push_back(static_cast<double>(each.df));
      options.allowed = &allowed;
      tell_all(told, view->search_batch(std::vector<std::string_view>(4, query), options, 2));
      options.exhaustive = true;
      tell(told, view->search(query, options));
    }
    told.push_back(static_cast<double>(index.unknown_words(query, true).size()));
    return told;
  });
}

TEST_CASE("threads: one BM25 collection, and others made of its parts") {
  std::vector<std::shared_ptr<const BM25View>> parts;
  for (unsigned seed = 2; seed < 5; ++seed) parts.push_back(random_index(seed).view(every(seed)));
  const BM25Collection shared(parts);
  const Bitmap some = every(3);
  const std::vector<const Bitmap*> allowed = {&some, nullptr, &some};
  check_together([&] {
    Told told;
    const BM25Collection own(parts);
    for (const BM25Collection* collection : {&shared, &own}) {
      tell_all(told, collection->search(query, {.operators = true}));
      tell_all(told, collection->search(query, {.operators = true}, allowed));
      told.push_back(static_cast<double>(collection->document_frequency("w0 w1")));
    }
    return told;
  });
}

TEST_CASE("threads: one flat index, in each storage") {
  const File file("pincite_threads_flat");
  const auto rows = random_unit_rows(n_rows, dim, 6);
  const auto queries = random_unit_rows(4, dim, 7);
  const Bitmap allowed = every(3);
  for (const Storage storage : {Storage::float32, Storage::float16, Storage::int8}) {
    FlatIndex::build(rows, storage).save(file.path());
    const FlatIndex index = FlatIndex::load(file.path());
    check_together([&] {
      Told told;
      const FlatIndex own = FlatIndex::build(rows, storage);
      for (const FlatIndex* each : {&index, &own}) {
        tell_all(told, each->search(queries->values(), 9, nullptr, 2));
        tell_all(told, each->search({queries->row(0), dim}, 9, &allowed, 3));
        tell_all(told, each->search({queries->row(1), dim}, n_rows, &allowed, 2, default_kernel(), 0.2F));
      }
      return told;
    });
  }
}

TEST_CASE("threads: one graph, read by all, and others built beside it") {
  const File file("pincite_threads_hnsw");
  const auto rows = random_unit_rows(n_rows, dim, 8);
  const auto queries = random_unit_rows(3, dim, 9);
  const auto few = random_unit_rows(200, dim, 10);
  const Bitmap allowed = every(2);
  HnswIndex::build(rows, {}).save_graph(file.path());
  const HnswIndex index = HnswIndex::load_graph(file.path(), rows);
  check_together([&] {
    Told told;
    const HnswIndex own = HnswIndex::load_graph(file.path(), rows);
    for (const HnswIndex* each : {&index, &own}) {
      for (const HnswPath path : {HnswPath::automatic, HnswPath::graph, HnswPath::exact})
        tell_all(told, each->search(queries->values(), 9, 40, &allowed, 2, path));
    }
    const HnswIndex built = HnswIndex::build(few, {});
    tell_all(told, built.search(queries->values(), 5, 40, nullptr, 1, HnswPath::graph));
    // Its links depend on the order of the threads; what every row finds at once, itself, does not.
    const HnswIndex in_threads = HnswIndex::build(few, {.threads = 4});
    for (const auto& answer : in_threads.search(few->values(), 1, 40, nullptr, 2, HnswPath::graph))
      told.push_back(answer.hits[0].id);
    return told;
  });
}

TEST_CASE("threads: one text, cut, taken apart and highlighted by all") {
  const std::string text =
      "## Ships\n\nA ship's mäst \xE6\x9D\xB1\xE4\xBA\xAC. Then another one!\n\nNo.\n\n## Oil\n\nPumps.";
  const std::u32string wide =
      U"One sentence. Another one, a little longer. e\u0301e\u0301e\u0301 \u6771\u4EAC";
  const std::vector<std::int64_t> sections = {0, static_cast<std::int64_t>(wide.size())};
  const std::vector<TextSpan> prose = {{0, sections[1]}};
  const std::vector<std::int64_t> ranked = {4, 2, 9};
  const std::vector<std::span<const std::int64_t>> lists = {ranked, ranked};
  check_together([&] {
    Told told;
    for (const Chunks& chunks : {chunk_blind(text, 9, 3), chunk_sections(text, 20, 5)})
      for (const ChunkSpan& span : chunks.spans) told.push_back(span.end);
    for (const auto& span : pack_structural(wide, {sections, {}, prose, {}}, {12, 3, {}, {}}))
      told.push_back(static_cast<double>(span.covered_start));
    for (const std::int64_t end : sentence_ends(wide)) told.push_back(static_cast<double>(end));
    for (const Analyzer analyzer : {Analyzer::ascii, Analyzer::unicode}) {
      analyze(text, analyzer, AnalysisMode::index, [&](const Token& token) { told.push_back(token.end); });
      tell_all(told, highlights(text, "ship* mäst \"no\"", analyzer, true));
    }
    for (const FusedHit& hit : reciprocal_rank_fusion(lists)) told.push_back(hit.score);
    return told;
  });
}

}  // namespace
