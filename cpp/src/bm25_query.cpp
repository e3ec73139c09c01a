#include "bm25_query.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

namespace pincite::bm25 {
namespace {

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

Clause words_in(std::string_view text, Analyzer analyzer, bool star_follows = false) {
  Clause words;
  std::uint32_t end = 0;
  analyze(text, analyzer, AnalysisMode::query, [&](const Token& token) {
    words.push_back({std::string(token.term), token.position, token.prefix});
    end = token.end;
  });
  if (star_follows && !words.empty() && end == count_code_points(text)) words.back().prefix = true;
  return words;
}

void append_each(std::vector<Clause>& clauses, Clause&& words) {
  for (QueryWord& word : words) clauses.push_back({std::move(word)});
}

// Text outside quotes.
void append_plain(std::vector<Clause>& clauses, std::string_view text, Analyzer analyzer) {
  for (std::size_t star = text.find('*'); star != std::string_view::npos; star = text.find('*')) {
    append_each(clauses, words_in(text.substr(0, star), analyzer, true));
    text.remove_prefix(star + 1);
  }
  append_each(clauses, words_in(text, analyzer));
}

// Postings made at query time.
struct Made {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> tfs;
  std::vector<std::uint32_t> positions;
};

// Walks a list of postings; knows where the positions of the current one begin.
struct Walk {
  Postings postings;
  std::size_t n_fields;
  std::size_t at = 0;
  std::size_t position = 0;

  [[nodiscard]] bool done() const { return at == postings.ids.size(); }
  [[nodiscard]] std::uint32_t id() const { return postings.ids[at]; }
  [[nodiscard]] std::span<const std::uint32_t> tfs() const {
    return postings.tfs.subspan(at * n_fields, n_fields);
  }
  void next() {
    for (const std::uint32_t tf : tfs()) position += tf;
    ++at;
  }
  [[nodiscard]] std::span<const std::uint32_t> positions(std::size_t field) const {
    std::size_t start = position;
    for (std::size_t f = 0; f < field; ++f) start += tfs()[f];
    return postings.positions.subspan(start, tfs()[field]);
  }
};

// All terms of a prefix as one: frequencies add up.
Made unite(const std::vector<Postings>& lists, std::size_t n_fields) {
  std::vector<Walk> walks;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  // (document, list)
  for (const Postings& list : lists) {
    for (const std::uint32_t id : list.ids) order.emplace_back(id, static_cast<std::uint32_t>(walks.size()));
    walks.push_back({list, n_fields});
  }
  std::sort(order.begin(), order.end());
  Made made;
  for (auto from = order.begin(); from != order.end();) {
    const auto to =
        std::find_if(from, order.end(), [&](const auto& entry) { return entry.first != from->first; });
    made.ids.push_back(from->first);
    for (std::size_t field = 0; field < n_fields; ++field) {
      const std::size_t start = made.positions.size();
      for (auto it = from; it != to; ++it) {
        const auto more = walks[it->second].positions(field);
        made.positions.insert(made.positions.end(), more.begin(), more.end());
      }
      std::sort(made.positions.begin() + static_cast<std::ptrdiff_t>(start), made.positions.end());
      made.tfs.push_back(static_cast<std::uint32_t>(made.positions.size() - start));
    }
    for (; from != to; ++from) walks[from->second].next();
  }
  return made;
}

// Where the words stand in a row, at the distances of the phrase, within one field. Occurrences may overlap.
Made adjoin(const std::vector<Postings>& lists, const Clause& words, std::size_t n_fields) {
  std::vector<Walk> walks;
  for (const Postings& list : lists) walks.push_back({list, n_fields});
  const auto any_done = [&] {
    return std::any_of(walks.begin(), walks.end(), [](const Walk& w) { return w.done(); });
  };
  Made made;
  while (!any_done()) {
    const std::uint32_t id = std::max_element(walks.begin(), walks.end(), [](const Walk& a, const Walk& b) {
                               return a.id() < b.id();
                             })->id();
    for (Walk& walk : walks) {
      while (!walk.done() && walk.id() < id) walk.next();
    }
    if (any_done()) break;
    if (std::any_of(walks.begin(), walks.end(), [&](const Walk& w) { return w.id() != id; })) continue;
    const std::size_t before = made.positions.size();
    for (std::size_t field = 0; field < n_fields; ++field) {
      const std::size_t start = made.positions.size();
      for (const std::uint32_t first : walks[0].positions(field)) {
        if (made.positions.size() > start && made.positions.back() == first) continue;
        bool all = true;
        for (std::size_t i = 1; all && i < walks.size(); ++i) {
          const auto there = walks[i].positions(field);
          all =
              std::binary_search(there.begin(), there.end(), first + (words[i].position - words[0].position));
        }
        if (all) made.positions.push_back(first);
      }
      made.tfs.push_back(static_cast<std::uint32_t>(made.positions.size() - start));
    }
    if (made.positions.size() > before) {
      made.ids.push_back(id);
    } else {
      made.tfs.resize(made.tfs.size() - n_fields);
    }
    for (Walk& walk : walks) walk.next();
  }
  return made;
}

void own(QueryTerm& out, Made&& made) {
  const auto keep = [&](std::vector<std::uint32_t>&& values) -> std::span<const std::uint32_t> {
    out.owned.push_back(std::make_shared<const std::vector<std::uint32_t>>(std::move(values)));
    return *out.owned.back();
  };
  out.postings.ids = keep(std::move(made.ids));
  out.postings.tfs = keep(std::move(made.tfs));
  out.postings.positions = keep(std::move(made.positions));
}

// The lists of a prefix: it is held against the words as they were read, before stemming.
std::vector<Postings> lists_with_prefix(const QueryWord& prefix, const Data& data) {
  std::vector<Postings> lists;
  if (!data.stemmed()) {
    const auto [first, last] = data.terms.with_prefix(prefix.text);
    for (std::size_t term = first; term < last; ++term) lists.push_back(data.postings(term));
    return lists;
  }
  const auto [first, last] = data.words.with_prefix(prefix.text);
  const auto words = data.terms_of_words.subspan(first, last - first);
  std::set<std::uint32_t> terms(words.begin(), words.end());
  for (const std::string& stem : prefix.stems) {
    if (const auto term = data.terms.find(stem)) terms.insert(*term);
  }
  for (const std::uint32_t term : terms) lists.push_back(data.postings(term));
  return lists;
}

QueryTerm resolve_word(const QueryWord& word, const Data& data) {
  QueryTerm out;
  if (word.prefix) {
    own(out, unite(lists_with_prefix(word, data), data.n_fields));
  } else if (const auto term = data.terms.find(word.text)) {
    out.term = *term;
    out.postings = data.postings(*term);
  }
  return out;
}

// Replaces a word by its stem, and finds all stems of a prefix where no single index has them all.
void stem(QueryWord& word, Indexes indexes, const Stems* stems) {
  if (word.prefix) {
    std::set<std::string_view> found;
    for (const Data* data : indexes.size() > 1 ? indexes : Indexes()) {
      const auto [first, last] = data->words.with_prefix(word.text);
      for (std::size_t i = first; i < last; ++i) found.insert(data->terms[data->terms_of_words[i]]);
    }
    word.stems.assign(found.begin(), found.end());
    return;
  }
  for (const Data* data : indexes) {
    if (const auto seen = data->words.find(word.text)) {
      word.text = data->terms[data->terms_of_words[*seen]];
      return;
    }
  }
  if (stems == nullptr) return;
  const auto given = stems->find(word.text);
  if (given != stems->end() && !given->second.empty()) word.text = given->second;
}

std::string label_of(const Clause& clause) {
  std::string out;
  for (const QueryWord& word : clause)
    out.append(out.empty() ? "" : " ").append(word.text).append(word.prefix ? "*" : "");
  return clause.size() == 1 ? out : '"' + out + '"';
}

}  // namespace

std::vector<Clause> parse_query(std::string_view query, Analyzer analyzer, bool operators) {
  std::vector<Clause> clauses;
  if (!operators) {
    append_each(clauses, words_in(query, analyzer));
    return clauses;
  }
  for (;;) {
    const std::size_t open = query.find('"');
    const std::size_t close = open == std::string_view::npos ? open : query.find('"', open + 1);
    if (close == std::string_view::npos) break;
    append_plain(clauses, query.substr(0, open), analyzer);
    Clause phrase = words_in(query.substr(open + 1, close - open - 1), analyzer);
    if (!phrase.empty()) clauses.push_back(std::move(phrase));
    query.remove_prefix(close + 1);
  }
  append_plain(clauses, query, analyzer);
  return clauses;
}

Clause parse_phrase(std::string_view text, Analyzer analyzer) { return words_in(text, analyzer); }

std::vector<std::string> unknown_words(const std::vector<Clause>& clauses, Indexes indexes) {
  std::vector<std::string> out;
  if (indexes.empty() || !indexes[0]->stemmed()) return out;
  for (const Clause& clause : clauses) {
    for (const QueryWord& word : clause) {
      const auto knows = [&](const Data* data) { return data->words.find(word.text).has_value(); };
      if (!word.prefix && std::none_of(indexes.begin(), indexes.end(), knows)) out.push_back(word.text);
    }
  }
  return out;
}

std::vector<DistinctClause> distinct(std::vector<Clause>&& clauses, Indexes indexes, const Stems* stems) {
  std::vector<DistinctClause> out;
  std::unordered_map<std::string, std::size_t> places;  // by label: two words can have one stem
  for (Clause& clause : clauses) {
    if (!indexes.empty() && indexes[0]->stemmed()) {
      for (QueryWord& word : clause) stem(word, indexes, stems);
    }
    std::string label = label_of(clause);
    const auto [place, fresh] = places.emplace(label, out.size());
    if (fresh) {
      out.push_back({std::move(clause), std::move(label), 1});
    } else {
      ++out[place->second].count;
    }
  }
  return out;
}

QueryTerm resolve(const Clause& clause, const Data& data) {
  if (clause.size() == 1) return resolve_word(clause[0], data);
  std::vector<QueryTerm> words;
  std::vector<Postings> lists;
  for (const QueryWord& word : clause) {
    words.push_back(resolve_word(word, data));
    lists.push_back(words.back().postings);
  }
  QueryTerm out;
  own(out, adjoin(lists, clause, data.n_fields));
  return out;
}

}  // namespace pincite::bm25
