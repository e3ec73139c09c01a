// Texts to postings: a stream of (word, position), counted and dealt out to the terms in one pass each.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "bm25_data.hpp"
#include "pincite/error.hpp"

namespace pincite {
namespace {

// Distinct strings, numbered as they come. Open addressing; the strings lie one after another.
class WordMap {
 public:
  std::uint32_t intern(std::string_view word) {
    if (2 * (size() + 1) > slots_.size()) grow();
    const std::uint64_t h = hash(word);
    for (std::size_t slot = h & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint32_t id = slots_[slot];
      if (id == empty) {
        if (size() == empty) throw InvalidInputError("the texts hold more than 4,294,967,295 distinct words");
        slots_[slot] = static_cast<std::uint32_t>(size());
        bytes_.insert(bytes_.end(), word.begin(), word.end());
        offsets_.push_back(bytes_.size());
        return slots_[slot];
      }
      if ((*this)[id] == word) return id;
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes_.data() + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }

 private:
  static constexpr std::uint32_t empty = std::numeric_limits<std::uint32_t>::max();

  // FNV-1a, with the high half folded in: the slot is taken from the low bits.
  static std::uint64_t hash(std::string_view word) noexcept {
    std::uint64_t h = 0xcbf29ce484222325U;
    for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return h ^ (h >> 32U);
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), empty);
    for (std::size_t id = 0; id < size(); ++id) {
      std::size_t slot = hash((*this)[id]) & (slots_.size() - 1);
      while (slots_[slot] != empty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(id);
    }
  }

  std::vector<char> bytes_;
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::uint32_t> slots_;
};

struct SortedStrings {
  std::vector<char> bytes;
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> rank;  // of each string that came in
};

// Sorts `count` strings given by `get`; equal ones share a rank.
template <class Get>
SortedStrings sort_strings(std::size_t count, const Get& get) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return get(a) < get(b); });
  SortedStrings out;
  out.rank.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view s = get(order[i]);
    if (i == 0 || get(order[i - 1]) != s) {
      out.bytes.insert(out.bytes.end(), s.begin(), s.end());
      out.offsets.push_back(out.bytes.size());
    }
    out.rank[order[i]] = static_cast<std::uint32_t>(out.offsets.size() - 2);
  }
  return out;
}

// The points of one term and field that no other beats.
void append_frontier(std::vector<bm25::FrontierPoint>& points, std::vector<bm25::FrontierPoint>& out) {
  std::sort(points.begin(), points.end(), [](const auto& x, const auto& y) {
    return x.length < y.length || (x.length == y.length && x.tf > y.tf);
  });
  std::uint32_t best = 0;
  for (const bm25::FrontierPoint& point : points) {
    if (point.tf > best) out.push_back(point);
    best = std::max(best, point.tf);
  }
  points.clear();
}

}  // namespace

void check_params(const BM25Params& params) {
  if (!(params.k1 >= 0.0 && params.k1 <= 1e6)) {
    throw InvalidInputError("k1 is " + std::to_string(params.k1) + ", wanted a value from 0 to 1e6");
  }
  if (!(params.b >= 0.0 && params.b <= 1.0)) {
    throw InvalidInputError("b is " + std::to_string(params.b) + ", wanted a value from 0 to 1");
  }
  if (params.fields.empty() || params.fields.size() > 64) {
    throw InvalidInputError(std::to_string(params.fields.size()) + " fields given, wanted 1 to 64");
  }
  std::set<std::string_view> names;
  for (const BM25Field& field : params.fields) {
    if (!(field.boost >= 1e-6 && field.boost <= 1e6)) {
      throw InvalidInputError("the boost of field '" + field.name + "' is " + std::to_string(field.boost) +
                              ", wanted a value from 1e-6 to 1e6");
    }
    if (!names.insert(field.name).second) {
      throw InvalidInputError("field '" + field.name + "' is named twice, wanted different names");
    }
  }
}

struct BM25Builder::State {
  struct Occurrence {
    std::uint32_t word;
    std::uint32_t position;
  };
  Analyzer analyzer = Analyzer::unicode;
  std::size_t n_fields = 1;
  WordMap words;
  std::vector<Occurrence> stream;      // document after document, field after field
  std::vector<std::uint32_t> lengths;  // (documents, fields)
};

BM25Builder::BM25Builder(Analyzer analyzer, std::size_t n_fields) : state_(std::make_unique<State>()) {
  state_->analyzer = analyzer;
  state_->n_fields = n_fields;
}

BM25Builder::~BM25Builder() = default;

void BM25Builder::add(std::span<const std::string_view> texts) {
  State& state = *state_;
  if (texts.size() != state.n_fields) {
    throw InvalidInputError("the document has " + std::to_string(texts.size()) + " texts, wanted " +
                            std::to_string(state.n_fields) + ", one a field");
  }
  if (state.lengths.size() / state.n_fields == std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidInputError(
        "the index has 4,294,967,295 documents, which is all it can number; build another");
  }
  const std::size_t tokens_before = state.stream.size();
  const std::size_t lengths_before = state.lengths.size();
  try {
    for (const std::string_view text : texts) {
      const std::size_t start = state.stream.size();
      analyze(text, state.analyzer, AnalysisMode::index, [&](const Token& token) {
        state.stream.push_back({state.words.intern(token.term), token.position});
      });
      state.lengths.push_back(static_cast<std::uint32_t>(state.stream.size() - start));
    }
  } catch (...) {  // the document as a whole or not at all
    state.stream.resize(tokens_before);
    state.lengths.resize(lengths_before);
    throw;
  }
}

std::vector<std::string> BM25Builder::words() const {
  std::vector<std::string> out;
  out.reserve(state_->words.size());
  for (std::size_t i = 0; i < state_->words.size(); ++i) out.emplace_back(state_->words[i]);
  return out;
}

BM25Index BM25Builder::finish(BM25Params params, std::span<const std::string_view> stems) {
  State& state = *state_;
  check_params(params);
  const std::size_t n_fields = state.n_fields;
  const std::size_t n_words = state.words.size();
  if (params.fields.size() != n_fields || params.analyzer != state.analyzer) {
    throw InvalidInputError("the builder was made for " + std::to_string(n_fields) +
                            " fields and analyzer '" + std::string(analyzer_name(state.analyzer)) +
                            "', finish was given " + std::to_string(params.fields.size()) + " and '" +
                            std::string(analyzer_name(params.analyzer)) + "'");
  }
  if (stems.size() != (params.stemmer.empty() ? 0 : n_words)) {
    throw InvalidInputError(std::to_string(stems.size()) + " stems given for " + std::to_string(n_words) +
                            " words; give one a word with a stemmer, none without");
  }

  auto data = std::make_shared<bm25::Data>();
  const auto word = [&](std::size_t i) { return state.words[i]; };
  // A stemmer that leaves nothing of a word would merge all such words: keep the word.
  const auto term = [&](std::size_t i) { return stems.empty() || stems[i].empty() ? word(i) : stems[i]; };
  SortedStrings terms = sort_strings(n_words, term);
  const std::size_t n_terms = terms.offsets.size() - 1;
  if (!params.stemmer.empty()) {
    SortedStrings words = sort_strings(n_words, word);
    std::vector<std::uint32_t> terms_of_words(n_words);
    for (std::size_t i = 0; i < n_words; ++i) terms_of_words[words.rank[i]] = terms.rank[i];
    data->words = StringTable(data->keep(std::move(words.bytes)), data->keep(std::move(words.offsets)));
    data->terms_of_words = data->keep(std::move(terms_of_words));
  }
  const std::size_t n_docs = state.lengths.size() / n_fields;

  // `visit(term, document, field, position)` for every token, in document order.
  const auto for_each_token = [&](const auto& visit) {
    const auto* token = state.stream.data();
    for (std::size_t doc = 0; doc < n_docs; ++doc) {
      for (std::size_t field = 0; field < n_fields; ++field) {
        for (std::uint32_t left = state.lengths[doc * n_fields + field]; left > 0; --left, ++token) {
          visit(terms.rank[token->word], static_cast<std::uint32_t>(doc), field, token->position);
        }
      }
    }
  };

  std::vector<std::uint64_t> posting_offsets(n_terms + 1);
  std::vector<std::uint64_t> position_offsets(n_terms + 1);
  std::vector<std::uint32_t> last(n_terms, std::numeric_limits<std::uint32_t>::max());
  for_each_token([&](std::uint32_t t, std::uint32_t doc, std::size_t, std::uint32_t) {
    posting_offsets[t + 1] += last[t] != doc ? 1 : 0;
    last[t] = doc;
    ++position_offsets[t + 1];
  });
  std::partial_sum(posting_offsets.begin(), posting_offsets.end(), posting_offsets.begin());
  std::partial_sum(position_offsets.begin(), position_offsets.end(), position_offsets.begin());

  std::vector<std::uint32_t> ids(static_cast<std::size_t>(posting_offsets.back()));
  std::vector<std::uint32_t> tfs(ids.size() * n_fields);
  std::vector<std::uint32_t> positions(static_cast<std::size_t>(position_offsets.back()));
  std::vector<std::uint64_t> next_posting(posting_offsets.begin(), posting_offsets.end() - 1);
  std::vector<std::uint64_t> next_position(position_offsets.begin(), position_offsets.end() - 1);
  std::fill(last.begin(), last.end(), std::numeric_limits<std::uint32_t>::max());
  for_each_token([&](std::uint32_t t, std::uint32_t doc, std::size_t field, std::uint32_t position) {
    if (last[t] != doc) ids[static_cast<std::size_t>(next_posting[t]++)] = doc;
    last[t] = doc;
    ++tfs[static_cast<std::size_t>(next_posting[t] - 1) * n_fields + field];
    positions[static_cast<std::size_t>(next_position[t]++)] = position;
  });

  std::vector<std::uint64_t> frontier_offsets = {0};
  std::vector<bm25::FrontierPoint> frontier;
  std::vector<bm25::FrontierPoint> points;
  for (std::size_t t = 0; t < n_terms; ++t) {
    for (std::size_t field = 0; field < n_fields; ++field) {
      for (std::size_t i = posting_offsets[t]; i < posting_offsets[t + 1]; ++i) {
        const std::uint32_t tf = tfs[i * n_fields + field];
        if (tf > 0) points.push_back({tf, state.lengths[ids[i] * n_fields + field]});
      }
      append_frontier(points, frontier);
      frontier_offsets.push_back(frontier.size());
    }
  }

  data->params = std::move(params);
  data->n_docs = n_docs;
  data->n_fields = n_fields;
  data->terms = StringTable(data->keep(std::move(terms.bytes)), data->keep(std::move(terms.offsets)));
  data->lengths = data->keep(std::move(state.lengths));
  data->posting_offsets = data->keep(std::move(posting_offsets));
  data->ids = data->keep(std::move(ids));
  data->tfs = data->keep(std::move(tfs));
  data->position_offsets = data->keep(std::move(position_offsets));
  data->positions = data->keep(std::move(positions));
  data->frontier_offsets = data->keep(std::move(frontier_offsets));
  data->frontier = data->keep(std::move(frontier));
  data->make_tables();
  const Analyzer analyzer = state.analyzer;
  state = State{};
  state.analyzer = analyzer;
  state.n_fields = n_fields;
  return BM25Index(std::move(data));
}

}  // namespace pincite
