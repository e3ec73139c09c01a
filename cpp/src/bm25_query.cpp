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

std::string spelling(const Clause& clause) {
  std::string out;
  for (const QueryWord& word : clause) out.append(word.text).append(word.prefix ? "* " : " ");
  return out;
}

class Resolver {
 public:
  Resolver(const Data& data, const Stems* stems) : data_(data), stems_(stems) {}

  QueryTerm resolve(const Clause& clause) const {
    if (clause.size() == 1) return resolve(clause[0]);
    QueryTerm out;
    std::vector<QueryTerm> parts;
    std::vector<Postings> lists;
    out.label = "\"";
    for (const QueryWord& word : clause) {
      parts.push_back(resolve(word));
      lists.push_back(parts.back().postings);
      out.label += parts.back().label + (parts.size() == clause.size() ? "\"" : " ");
    }
    own(out, adjoin(lists, clause, data_.n_fields));
    return out;
  }

 private:
  QueryTerm resolve(const QueryWord& word) const {
    QueryTerm out;
    out.label = word.text;
    if (word.prefix) {
      out.label += '*';
      own(out, unite(lists_with_prefix(word.text), data_.n_fields));
      return out;
    }
    out.term = find(word.text, out.label);
    if (out.term != QueryTerm::no_term) out.postings = data_.postings(out.term);
    return out;
  }

  // The term of a word; with a stemmer `label` becomes the stem.
  std::uint32_t find(const std::string& word, std::string& label) const {
    if (data_.stemmed()) {
      if (const auto seen = data_.words.find(word)) {
        const std::uint32_t term = data_.terms_of_words[*seen];
        label = data_.terms[term];
        return term;
      }
      if (stems_ == nullptr) return QueryTerm::no_term;
      const auto stem = stems_->find(word);
      if (stem == stems_->end()) return QueryTerm::no_term;
      if (!stem->second.empty()) label = stem->second;
    }
    return data_.terms.find(label).value_or(QueryTerm::no_term);
  }

  // A prefix is held against the words as they were read, before stemming.
  std::vector<Postings> lists_with_prefix(std::string_view prefix) const {
    std::vector<Postings> lists;
    if (!data_.stemmed()) {
      const auto [first, last] = data_.terms.with_prefix(prefix);
      for (std::size_t term = first; term < last; ++term) lists.push_back(data_.postings(term));
      return lists;
    }
    const auto [first, last] = data_.words.with_prefix(prefix);
    const auto words = data_.terms_of_words.subspan(first, last - first);
    for (const std::uint32_t term : std::set<std::uint32_t>(words.begin(), words.end())) {
      lists.push_back(data_.postings(term));
    }
    return lists;
  }

  const Data& data_;
  const Stems* stems_;
};

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

std::vector<QueryTerm> resolve(const std::vector<Clause>& clauses, const Data& data, const Stems* stems) {
  const Resolver resolver(data, stems);
  std::vector<QueryTerm> out;
  std::unordered_map<std::string, std::size_t> by_spelling;  // so that a repeated phrase is made once
  std::unordered_map<std::string, std::size_t> by_label;     // two words can have one stem
  for (const Clause& clause : clauses) {
    const auto [place, fresh] = by_spelling.emplace(spelling(clause), out.size());
    if (!fresh) {
      ++out[place->second].count;
      continue;
    }
    QueryTerm term = resolver.resolve(clause);
    const auto [twin, distinct] = by_label.emplace(term.label, out.size());
    if (distinct) {
      out.push_back(std::move(term));
    } else {
      ++out[place->second = twin->second].count;
    }
  }
  return out;
}

}  // namespace pincite::bm25
