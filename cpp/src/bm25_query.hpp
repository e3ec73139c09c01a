// A query as clauses: words, prefixes and phrases.
//
// With operators on, text between two " is a phrase, and a * that touches the end of a word makes it a
// prefix. There is no malformed query: a quote without a partner, a * that touches no word, and quotes around
// nothing are passed over like any other mark; inside a phrase * is a mark too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bm25_data.hpp"

namespace pincite::bm25 {

struct QueryWord {
  std::string text;
  std::uint32_t position;  // in its phrase
  bool prefix;             // stands for every word that begins with it
};

/// One word, or the several of a phrase.
using Clause = std::vector<QueryWord>;

[[nodiscard]] std::vector<Clause> parse_query(std::string_view query, Analyzer analyzer, bool operators);

/// A clause against an index: one list of postings, as if the clause had been indexed as one term.
struct QueryTerm {
  std::string label;
  std::uint32_t count = 1;  // how often the query repeats it
  Postings postings;
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> owned;  // behind `postings`, where made up
  std::uint32_t term = no_term;  // its number, where the clause is an indexed term
  static constexpr std::uint32_t no_term = 0xFFFFFFFFU;
};

/// The distinct terms of a query in order of appearance; also those without postings.
[[nodiscard]] std::vector<QueryTerm> resolve(const std::vector<Clause>& clauses, const Data& data,
                                             const Stems* stems);

}  // namespace pincite::bm25
