// BM25 over an inverted index: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
// Beyond", 2009; several fields as in Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple
// weighted fields", CIKM 2004.
//
//   idf   = ln(1 + (N - df + 0.5) / (df + 0.5))                       never negative
//   tf~   = sum over fields of boost * tf / (1 - b + b * length / mean length)
//   score = sum over the query's terms of idf * tf~ * (k1 + 1) / (k1 + tf~)
//
// With one field of boost 1 that is plain BM25. A term counts as often as the query repeats it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pincite/bitmap.hpp"
#include "pincite/text.hpp"
#include "pincite/topk.hpp"

namespace pincite {

struct BM25Field {
  std::string name;
  double boost = 1.0;
};

struct BM25Params {
  Analyzer analyzer = Analyzer::unicode;
  double k1 = 1.2;
  double b = 0.75;
  std::vector<BM25Field> fields = {{"text", 1.0}};
  std::string stemmer;  // the name of a Snowball stemmer; empty: none
};

/// Throws InvalidInputError unless k1 is in [0, 1e6], b in [0, 1], boosts in [1e-6, 1e6], and 1 to 64 fields
/// have different names. (The limits keep float32 bounds of a score meaningful.)
void check_params(const BM25Params& params);

/// Words to stems, for words of a query that the index has not seen.
using Stems = std::unordered_map<std::string, std::string>;

struct BM25Options {
  std::size_t k = 10;
  const Bitmap* allowed = nullptr;  // filters results, leaves statistics alone
  bool operators = false;           // read "phrases" and prefix* in the query
  const Stems* stems = nullptr;
  bool exhaustive = false;  // score every matching document: what the pruned search is tested against
};

/// What one term of the query contributes to the score of one document.
struct BM25Contribution {
  std::string term;
  std::uint32_t count;            // how often the query holds it
  std::vector<std::uint32_t> tf;  // a field
  std::size_t df;
  double idf;
  double score;
  std::vector<std::vector<std::uint32_t>> positions;  // token ordinals, a field
};

namespace bm25 {
struct Data;
class Ranking;
struct QueryTerm;
}  // namespace bm25

/// The index as those see it who may read some documents alone: N, df and mean lengths are those of the
/// visible documents, as if no other had been indexed. Immutable, safe to search from any number of threads.
class BM25View {
 public:
  BM25View(std::shared_ptr<const bm25::Data> data, std::optional<Bitmap> visible);

  /// The k best of the documents that match at least one term, best first: exactly those, and exactly the
  /// scores, of scoring every document.
  [[nodiscard]] std::vector<Hit<double>> search(std::string_view query, const BM25Options& options) const;

  /// `search` for every query, on up to `threads` threads.
  [[nodiscard]] std::vector<std::vector<Hit<double>>> search_batch(std::span<const std::string_view> queries,
                                                                   const BM25Options& options,
                                                                   std::size_t threads) const;

  /// The terms of the query in the order in which their scores are added up.
  [[nodiscard]] std::vector<BM25Contribution> explain(std::string_view query, std::size_t id,
                                                      const BM25Options& options) const;

  /// The visible documents, and all documents of the index.
  [[nodiscard]] std::size_t visible_count() const noexcept { return n_docs_; }
  [[nodiscard]] std::size_t n_rows() const noexcept;

 private:
  friend class BM25Collection;
  [[nodiscard]] bool sees(std::uint32_t id) const noexcept { return !visible_ || visible_->test(id); }
  [[nodiscard]] bm25::Ranking ranking(std::string_view query, const BM25Options& options) const;
  [[nodiscard]] std::size_t document_frequency(const bm25::QueryTerm& term) const;

  std::shared_ptr<const bm25::Data> data_;
  std::optional<Bitmap> visible_;
  std::size_t n_docs_ = 0;
  std::vector<std::uint64_t> tokens_;  // of the visible documents, a field
  std::vector<double> mean_lengths_;   // a field
  std::vector<float> gains_;           // boost / length norm, (documents, fields)
  mutable std::unique_ptr<std::atomic<std::uint32_t>[]> df_cache_;  // a term; only with `visible_`
};

class BM25Index {
 public:
  explicit BM25Index(std::shared_ptr<const bm25::Data> data);

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t n_terms() const noexcept;
  [[nodiscard]] const BM25Params& params() const noexcept;
  [[nodiscard]] std::shared_ptr<const BM25View> view(std::optional<Bitmap> visible = std::nullopt) const;

  /// The words of a query that an index with a stemmer has no stem for.
  [[nodiscard]] std::vector<std::string> unknown_words(std::string_view query, bool operators) const;

  void save(const std::filesystem::path& path) const;
  /// Memory-maps the file. Throws what Envelope::open throws, and IndexCorruptError where the contents of the
  /// sections contradict each other; that is checked with or without `verify`.
  [[nodiscard]] static BM25Index load(const std::filesystem::path& path, bool verify = true);

 private:
  std::shared_ptr<const bm25::Data> data_;
};

/// Collects documents. Memory: 8 bytes a token on top of the index.
class BM25Builder {
 public:
  BM25Builder(Analyzer analyzer, std::size_t n_fields);
  ~BM25Builder();

  /// One document: one text a field. Throws InvalidInputError on bytes that are no UTF-8.
  void add(std::span<const std::string_view> texts);

  /// The distinct words so far.
  [[nodiscard]] std::vector<std::string> words() const;

  /// Makes the index and leaves the builder empty. `stems` is empty or has one stem for each of `words()`.
  [[nodiscard]] BM25Index finish(BM25Params params, std::span<const std::string_view> stems = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Span {
  std::uint32_t start;  // code points
  std::uint32_t end;
};

/// Where a text matches a query: code point spans, ascending, overlapping ones joined; a phrase is one span.
/// `stems` holds the stems of the words of both, or is null.
[[nodiscard]] std::vector<Span> highlights(std::string_view text, std::string_view query, Analyzer analyzer,
                                           bool operators, const Stems* stems = nullptr);

/// The distinct words of a text and of a query, for stemming them all at once.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text, std::string_view query,
                                                Analyzer analyzer, bool operators);

}  // namespace pincite
