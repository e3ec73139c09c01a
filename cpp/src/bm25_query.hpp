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
  std::uint32_t position;               // in its phrase
  bool prefix;                          // stands for every word that begins with it
  std::vector<std::string> stems = {};  // of a prefix: those that other indexes have for it
};

/// One word, or the several of a phrase.
using Clause = std::vector<QueryWord>;

[[nodiscard]] std::vector<Clause> parse_query(std::string_view query, Analyzer analyzer, bool operators);

/// All words of a text as one clause; empty where it has none.
[[nodiscard]] Clause parse_phrase(std::string_view text, Analyzer analyzer);

/// Indexes that are searched as if they were one; their parameters are equal.
using Indexes = std::span<const Data* const>;

/// The words of the clauses that indexes with a stemmer have no stem for.
[[nodiscard]] std::vector<std::string> unknown_words(const std::vector<Clause>& clauses, Indexes indexes);

struct DistinctClause {
  Clause clause;  // with a stemmer, of stems
  std::string label;
  std::uint32_t count;  // how often the query repeats it
};

/// The distinct clauses in order of appearance. A word's stem is that of an index that knows it, or from
/// `stems`.
[[nodiscard]] std::vector<DistinctClause> distinct(std::vector<Clause>&& clauses, Indexes indexes,
                                                   const Stems* stems);

/// A clause against an index: one list of postings, as if the clause had been indexed as one term.
struct QueryTerm {
  Postings postings;
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> owned;  // behind `postings`, where made up
  std::uint32_t term = no_term;  // its number, where the clause is an indexed term
  static constexpr std::uint32_t no_term = 0xFFFFFFFFU;
};

[[nodiscard]] QueryTerm resolve(const Clause& clause, const Data& data);

}  // namespace pincite::bm25
