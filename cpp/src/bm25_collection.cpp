#include "pincite/bm25_collection.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "bm25_data.hpp"
#include "bm25_query.hpp"
#include "bm25_ranking.hpp"
#include "bm25_score.hpp"
#include "pincite/error.hpp"

namespace pincite {
namespace {

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  if (std::strtod(text, nullptr) != value) std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string shown(const std::vector<BM25Field>& fields) {
  std::string out;
  for (const BM25Field& field : fields)
    out += (out.empty() ? "'" : ", '") + field.name + "' of boost " + shown(field.boost);
  return out;
}

void require_equal(const BM25Params& first, const BM25Params& other, std::size_t part) {
  const auto require = [&](const char* what, const std::string& wanted, const std::string& given) {
    if (given == wanted) return;
    throw InvalidInputError("part " + std::to_string(part) + " has " + what + " " + given + ", part 0 has " +
                            wanted + "; build the indexes of one collection with equal parameters");
  };
  require("analyzer", std::string(analyzer_name(first.analyzer)), std::string(analyzer_name(other.analyzer)));
  require("stemmer", '\'' + first.stemmer + '\'', '\'' + other.stemmer + '\'');
  require("k1", shown(first.k1), shown(other.k1));
  require("b", shown(first.b), shown(other.b));
  require("fields", shown(first.fields), shown(other.fields));
}

}  // namespace

BM25Collection::BM25Collection(std::vector<std::shared_ptr<const BM25View>> parts)
    : parts_(std::move(parts)) {
  std::vector<std::uint64_t> tokens(parts_.empty() ? 0 : parts_[0]->data_->n_fields);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    require_equal(parts_[0]->data_->params, parts_[p]->data_->params, p);
    indexes_.push_back(parts_[p]->data_.get());
    n_docs_ += parts_[p]->n_docs_;
    for (std::size_t f = 0; f < tokens.size(); ++f) tokens[f] += parts_[p]->tokens_[f];
  }
  mean_lengths_ = bm25::mean_lengths(tokens, n_docs_);
  for (const bm25::Data* index : indexes_) gains_.push_back(bm25::gains(*index, mean_lengths_));
}

std::vector<std::vector<Hit<double>>> BM25Collection::search(std::string_view query,
                                                             const BM25Options& options,
                                                             std::span<const Bitmap* const> allowed) const {
  if (options.k == 0) throw InvalidInputError("k is 0, wanted at least 1");
  if (!allowed.empty() && allowed.size() != parts_.size()) {
    throw InvalidInputError("allowed has " + std::to_string(allowed.size()) +
                            " filters, the collection has " + std::to_string(parts_.size()) +
                            " parts; give one a part");
  }
  std::vector<std::vector<bm25::RankedTerm>> terms(parts_.size());  // a part
  for (const auto& [clause, label, count] :
       bm25::distinct(bm25::parse_query(query, analyzer(), options.operators), indexes_, options.stems)) {
    std::size_t df = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      bm25::QueryTerm term = bm25::resolve(clause, *indexes_[p]);
      df += parts_[p]->document_frequency(term);
      terms[p].push_back({std::move(term), label, count, 0, 0.0});
    }
    for (auto& of_part : terms) {
      of_part.back().df = df;
      of_part.back().idf = bm25::idf(n_docs_, df);
    }
  }
  std::vector<std::vector<Hit<double>>> out;
  TopK<double> best(options.k);  // of all parts so far: what scores less cannot be among the k best of all
  const auto floor = [&] { return best.full() ? best.worst().score : 0.0; };
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto& visible = parts_[p]->visible_;
    BM25Options here = options;
    here.allowed = allowed.empty() ? nullptr : allowed[p];
    const bm25::Lens lens{*indexes_[p], visible ? &*visible : nullptr, mean_lengths_, gains_[p]};
    out.push_back(bm25::Ranking(lens, std::move(terms[p])).search(here, floor()));
    for (const Hit<double>& hit : out.back()) best.offer(hit);
  }
  for (auto& hits : out) std::erase_if(hits, [&](const Hit<double>& hit) { return hit.score < floor(); });
  return out;
}

std::size_t BM25Collection::document_frequency(std::string_view text, const Stems* stems) const {
  bm25::Clause phrase = bm25::parse_phrase(text, analyzer());
  if (phrase.empty()) return 0;
  std::size_t df = 0;
  for (const auto& [clause, label, count] : bm25::distinct({std::move(phrase)}, indexes_, stems)) {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      df += parts_[p]->document_frequency(bm25::resolve(clause, *indexes_[p]));
  }
  return df;
}

std::vector<std::string> BM25Collection::unknown_words(std::string_view query, bool operators) const {
  return bm25::unknown_words(bm25::parse_query(query, analyzer(), operators), indexes_);
}

Analyzer BM25Collection::analyzer() const noexcept {
  return indexes_.empty() ? Analyzer::unicode : indexes_[0]->params.analyzer;
}

}  // namespace pincite
