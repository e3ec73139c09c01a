// Where a text matches a query, by reading the text again: the index keeps no text.
#include <algorithm>
#include <map>
#include <set>

#include "bm25_query.hpp"

namespace pincite {
namespace {

struct TextToken {
  std::string word;
  std::string term;
  Span span;
  std::uint32_t position;
};

std::string stem_of(const std::string& word, const Stems* stems) {
  if (stems == nullptr) return word;
  const auto found = stems->find(word);
  return found == stems->end() || found->second.empty() ? word : found->second;
}

bool matches(const TextToken& token, const bm25::QueryWord& word, const std::string& stem) {
  return word.prefix ? token.word.starts_with(word.text) : token.term == stem;
}

}  // namespace

std::vector<Span> highlights(std::string_view text, std::string_view query, Analyzer analyzer, bool operators,
                             const Stems* stems) {
  std::vector<TextToken> tokens;
  analyze(text, analyzer, AnalysisMode::index, [&](const Token& token) {
    const std::string word(token.term);
    tokens.push_back({word, stem_of(word, stems), {token.start, token.end}, token.position});
  });

  std::vector<Span> found;
  for (const bm25::Clause& clause : bm25::parse_query(query, analyzer, operators)) {
    // For each word of the clause: the tokens that match it, by position.
    std::vector<std::map<std::uint32_t, const TextToken*>> places;
    for (const bm25::QueryWord& word : clause) {
      const std::string stem = stem_of(word.text, stems);
      auto& place = places.emplace_back();
      for (const TextToken& token : tokens) {
        if (matches(token, word, stem)) place.emplace(token.position, &token);
      }
    }
    for (const auto& [position, token] : places[0]) {
      Span span = token->span;
      bool whole = true;
      for (std::size_t i = 1; whole && i < clause.size(); ++i) {
        const auto next = places[i].find(position + (clause[i].position - clause[0].position));
        whole = next != places[i].end();
        if (whole) span.end = std::max(span.end, next->second->span.end);
      }
      if (whole) found.push_back(span);
    }
  }

  std::sort(found.begin(), found.end(), [](const Span& a, const Span& b) {
    return a.start < b.start || (a.start == b.start && a.end < b.end);
  });
  std::vector<Span> joined;
  for (const Span& span : found) {
    if (!joined.empty() && span.start < joined.back().end) {
      joined.back().end = std::max(joined.back().end, span.end);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

std::vector<std::string> words_of(std::string_view text, std::string_view query, Analyzer analyzer,
                                  bool operators) {
  std::set<std::string> words;
  analyze(text, analyzer, AnalysisMode::index, [&](const Token& token) { words.emplace(token.term); });
  for (const bm25::Clause& clause : bm25::parse_query(query, analyzer, operators)) {
    for (const bm25::QueryWord& word : clause) words.insert(word.text);
  }
  return {words.begin(), words.end()};
}

}  // namespace pincite
