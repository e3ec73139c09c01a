#include "bm25_prune.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "pincite/topk.hpp"

namespace pincite::bm25 {
namespace {

// Documents a window: its accumulators stay in the first-level cache.
constexpr std::uint32_t window = 4096;
// The first pass looks at short lists alone, of this many postings in all, to learn a floor for the second.
constexpr std::size_t probe_postings = 4096;
// Reading this many postings costs about what looking one up does.
constexpr std::size_t postings_worth_a_search = 64;

struct Cursor {
  Impacts impacts;
  std::size_t at = 0;

  [[nodiscard]] bool done() const { return at == impacts.ids.size(); }
  [[nodiscard]] std::uint32_t id() const { return impacts.ids[at]; }

  // Moves on to the first posting that is not below `id`: doubling steps, then halving ones.
  void seek(std::uint32_t id) {
    const auto& ids = impacts.ids;
    if (done() || ids[at] >= id) return;
    std::size_t step = 1;
    std::size_t low = at;  // below id
    while (low + step < ids.size() && ids[low + step] < id) {
      low += step;
      step *= 2;
    }
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(low + 1);
    const auto last = ids.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, ids.size()));
    at = static_cast<std::size_t>(std::lower_bound(first, last, id) - ids.begin());
  }
};

class Sweep {
 public:
  Sweep(std::size_t k, const PruneContext& context, float margin)
      : context_(context), n_docs_(context.gains.size() / context.n_fields), top_(k), margin_(margin) {}

  // Scores what can matter of `terms`, which are ordered by bound, ascending.
  void run(std::vector<Cursor> terms, float floor) {
    floor_ = floor;
    terms_ = std::move(terms);
    float sum = 0.0F;
    for (const Cursor& term : terms_) below_.push_back(sum += term.impacts.bound);
    while (next_window()) {
      if (context_.n_fields == 1) {
        accumulate<1>();
      } else {
        accumulate<0>();
      }
      settle();
    }
  }

  /// At least k documents score this much; 0 where fewer were seen.
  [[nodiscard]] float floor() const { return floor_; }

  [[nodiscard]] std::vector<std::uint32_t> take() {
    std::vector<std::uint32_t> ids;
    for (const Hit<float>& hit : kept_) {
      if (reaches(hit.score)) ids.push_back(hit.id);
    }
    return ids;
  }

 private:
  // Whether a document with this score, or upper bound of one, can still be among the k best.
  [[nodiscard]] bool reaches(float score) const { return score * margin_ >= floor_; }

  // Lets go of terms that cannot lift a document over the floor by themselves, and finds the next document
  // that one of the others has. False: there is none.
  bool next_window() {
    while (essential_ < terms_.size() && !reaches(below_[essential_])) ++essential_;
    bool any = false;
    for (std::size_t i = essential_; i < terms_.size(); ++i) {
      if (terms_[i].done()) continue;
      start_ = any ? std::min(start_, terms_[i].id()) : terms_[i].id();
      any = true;
    }
    return any;
  }

  template <int Fields>
  [[nodiscard]] float score(const Impacts& impacts, std::size_t i) const {
    float tf = 0.0F;
    const std::size_t id = impacts.ids[i];
    if constexpr (Fields == 1) {
      tf = static_cast<float>(impacts.tfs[i]) * context_.gains[id];
    } else {
      for (std::size_t f = 0; f < context_.n_fields; ++f) {
        tf += static_cast<float>(impacts.tfs[i * context_.n_fields + f]) *
              context_.gains[id * context_.n_fields + f];
      }
    }
    return impacts.weight * tf / (context_.k1 + tf);
  }
  [[nodiscard]] float score(const Impacts& impacts, std::size_t i) const {
    return context_.n_fields == 1 ? score<1>(impacts, i) : score<0>(impacts, i);
  }

  // Adds up the essential terms within the window. `touched_` lists its documents, each once.
  template <int Fields>
  void accumulate() {
    std::size_t n = 0;  // a local: the loop would wait for the member's store
    for (std::size_t t = essential_; t < terms_.size(); ++t) {
      Cursor& term = terms_[t];
      const Impacts impacts = term.impacts;
      std::size_t i = term.at;
      for (; i < impacts.ids.size() && impacts.ids[i] - start_ < window; ++i) {
        const std::uint32_t local = impacts.ids[i] - start_;
        const float sum = sums_[local];
        touched_[n] = local;
        n += sum == 0.0F ? 1 : 0;
        // Above 0 even where a forged file makes a score vanish: `touched_` holds each document once.
        sums_[local] = sum + std::max(std::numeric_limits<float>::min(), score<Fields>(impacts, i));
      }
      term.at = i;
    }
    n_touched_ = n;
  }

  // Completes the documents of the window that can reach the floor, and clears it. The other terms are taken
  // from the highest bound down; before each, documents that can no longer reach the floor are dropped.
  void settle() {
    bool sorted = false;
    for (std::size_t t = essential_; t-- > 0;) {
      drop_below(below_[t]);
      if (n_touched_ == 0) return;
      Cursor& term = terms_[t];
      term.seek(start_);
      if (n_touched_ * postings_worth_a_search > expected_in_window(term)) {
        context_.n_fields == 1 ? merge<1>(term) : merge<0>(term);
        continue;
      }
      if (!std::exchange(sorted, true)) std::sort(touched_.begin(), touched_.begin() + n_touched_);
      search(term);
    }
    drop_below(0.0F);
    for (std::size_t i = 0; i < n_touched_; ++i) {
      const Hit<float> hit{start_ + touched_[i], std::exchange(sums_[touched_[i]], 0.0F)};
      if (!reaches(hit.score)) continue;  // the floor may have risen
      if (context_.visible != nullptr && !context_.visible->test(hit.id)) continue;
      if (context_.allowed != nullptr && !context_.allowed->test(hit.id)) continue;
      kept_.push_back(hit);
      top_.offer(hit);
      if (top_.full()) floor_ = std::max(floor_, top_.worst().score);
    }
  }

  // Forgets the touched documents that cannot reach the floor with `more` on top.
  void drop_below(float more) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n_touched_; ++i) {
      const std::uint32_t local = touched_[i];
      const bool stays = reaches(sums_[local] + more);
      touched_[kept] = local;
      kept += stays ? 1 : 0;
      sums_[local] = stays ? sums_[local] : 0.0F;
    }
    n_touched_ = kept;
  }

  [[nodiscard]] std::size_t expected_in_window(const Cursor& term) const {
    return term.impacts.ids.size() * window / n_docs_;
  }

  // Adds a term to the touched documents by reading its part of the window.
  template <int Fields>
  void merge(Cursor& term) {
    const Impacts impacts = term.impacts;
    std::size_t i = term.at;
    for (; i < impacts.ids.size() && impacts.ids[i] - start_ < window; ++i) {
      const std::uint32_t local = impacts.ids[i] - start_;
      if (sums_[local] != 0.0F) sums_[local] += score<Fields>(impacts, i);
    }
    term.at = i;
  }

  // The same by looking each document up; `touched_` ascends.
  void search(Cursor& term) {
    for (std::size_t i = 0; i < n_touched_; ++i) {
      const std::uint32_t id = start_ + touched_[i];
      term.seek(id);
      if (term.done()) return;
      if (term.id() == id) sums_[touched_[i]] += score(term.impacts, term.at);
    }
  }

  const PruneContext& context_;
  std::size_t n_docs_;
  TopK<float> top_;
  float margin_;
  float floor_ = 0.0F;
  std::vector<Cursor> terms_;
  std::vector<float> below_;   // below_[i]: what terms 0 to i can add at most
  std::size_t essential_ = 0;  // terms from here on are read whole
  std::uint32_t start_ = 0;
  std::array<float, window> sums_{};
  std::array<std::uint32_t, window + 1> touched_;
  std::size_t n_touched_ = 0;
  std::vector<Hit<float>> kept_;
};

}  // namespace

std::vector<std::uint32_t> candidates(std::vector<Impacts> terms, std::size_t k,
                                      const PruneContext& context) {
  std::sort(terms.begin(), terms.end(), [](const Impacts& a, const Impacts& b) { return a.bound < b.bound; });
  // Rounding: each product, sum and quotient is off by at most 2^-24 of itself, all terms are positive, and a
  // score takes fewer than 2 * fields + terms + 8 of them. Twice that, on both sides of the comparison.
  const auto roundings = static_cast<float>(2 * context.n_fields + terms.size() + 8);
  const float margin = 1.0F + roundings * 0x1p-22F;

  std::size_t short_lists = terms.size();
  std::size_t postings = 0;
  while (short_lists > 0 && postings + terms[short_lists - 1].ids.size() <= probe_postings) {
    postings += terms[--short_lists].ids.size();
  }
  const auto cursors_from = [&](std::size_t first) {
    std::vector<Cursor> cursors;
    for (std::size_t i = first; i < terms.size(); ++i) cursors.push_back({terms[i]});
    return cursors;
  };
  float floor = 0.0F;
  if (short_lists > 0 && short_lists < terms.size()) {
    Sweep probe(k, context, margin);
    probe.run(cursors_from(short_lists), 0.0F);
    floor = probe.floor();
  }
  Sweep sweep(k, context, margin);
  sweep.run(cursors_from(0), floor);
  std::vector<std::uint32_t> ids = sweep.take();
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace pincite::bm25
