#include "bm25_prune.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "bm25_data.hpp"
#include "pincite/topk.hpp"

namespace pincite::bm25 {
namespace {

// Documents a window: its accumulators stay in the first-level cache.
constexpr std::uint32_t window = 4096;
// The first pass looks at short lists alone, of this many postings in all, to learn a floor for the second.
constexpr std::size_t probe_postings = 4096;
// Reading this many postings costs about what looking one up does.
constexpr std::size_t postings_worth_a_search = 64;
constexpr float least = std::numeric_limits<float>::min();  // above 0, and nothing next to a score

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

template <int Fields>  // 0: any number
class Sweep {
 public:
  Sweep(std::size_t k, const PruneContext& context, float margin)
      : context_(context),
        top_(k),
        margin_(margin),
        sums_(window),
        found_(std::make_unique_for_overwrite<Hit<float>[]>(window)) {}

  // Scores what can matter of `terms`, which are ordered by bound, ascending.
  void run(std::vector<Cursor> terms, float floor) {
    floor_ = floor;
    terms_ = std::move(terms);
    below_.push_back(0.0F);
    for (const Cursor& term : terms_) below_.push_back(below_.back() + term.impacts.bound);
    while (next_window()) {
      accumulate();
      for (std::size_t t = essential_; t-- > 0 && n_found_ > 0;) complete(terms_[t], below_[t]);
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
  // The score of a term from its frequencies in a document, one a field.
  struct Formula {
    const float* gains;
    std::size_t n_fields;
    float weight;
    float k1;

    template <class Tf>
    [[nodiscard]] float operator()(const Tf* tfs, std::size_t id) const {
      float tf = static_cast<float>(tfs[0]) * gains[id * n_fields];
      for (std::size_t f = 1; f < n_fields; ++f) tf += static_cast<float>(tfs[f]) * gains[id * n_fields + f];
      return weight * tf / (k1 + tf);
    }
  };
  [[nodiscard]] std::size_t fields() const { return Fields == 1 ? 1 : context_.n_fields; }
  [[nodiscard]] Formula formula(const Impacts& impacts) const {
    // Above 0, so that a frequency of 0 gives a score of 0 with k1 = 0 too.
    return {context_.gains.data(), fields(), impacts.weight, std::max(least, context_.k1)};
  }

  // Whether a document with this score, or upper bound of one, can still be among the k best.
  [[nodiscard]] bool reaches(float score) const { return score * margin_ >= floor_; }

  // Lets go of terms that cannot lift a document over the floor by themselves, and finds the next document
  // that one of the others has. False: there is none.
  bool next_window() {
    while (essential_ < terms_.size() && !reaches(below_[essential_ + 1])) ++essential_;
    bool any = false;
    for (std::size_t i = essential_; i < terms_.size(); ++i) {
      if (terms_[i].done()) continue;
      start_ = any ? std::min(start_, terms_[i].id()) : terms_[i].id();
      any = true;
    }
    return any;
  }

  // Calls `visit` for the postings of a term within the window, and moves the term behind them.
  template <class Visit>
  void for_each_in_window(Cursor& term, const Visit& visit) const {
    const auto ids = term.impacts.ids;
    const std::uint32_t start = start_;
    std::size_t i = term.at;
    for (; i < ids.size() && ids[i] - start < window; ++i) visit(ids[i] - start, i);
    term.at = i;
  }

  // Adds up the essential terms within the window, and finds the documents that can reach the floor with the
  // others on top.
  void accumulate() {
    std::array<std::uint32_t, window + 1> touched;
    std::size_t n = 0;
    float* const sums = sums_.data();
    const std::size_t start = start_;
    for (std::size_t t = essential_; t < terms_.size(); ++t) {
      const Formula score = formula(terms_[t].impacts);
      const std::uint32_t* tfs = terms_[t].impacts.tfs.data();
      for_each_in_window(terms_[t], [&](std::uint32_t local, std::size_t i) {
        const float sum = sums[local];
        touched[n] = local;
        n += sum == 0.0F ? 1 : 0;
        // Above 0 even where a forged file makes a score vanish: `touched` holds each document once.
        sums[local] = sum + std::max(least, score(tfs + i * score.n_fields, start + local));
      });
    }
    n_found_ = n;
    for (std::size_t i = 0; i < n; ++i) found_[i].id = touched[i];
    keep(below_[essential_], [&](const Hit<float>& hit) { return std::exchange(sums[hit.id], 0.0F); });
  }

  // Gives each found document a new score, and forgets those that cannot reach the floor with `more` on top.
  template <class Score>
  void keep(float more, const Score& score) {
    const float margin = margin_;  // locals: the stores below could change the members
    const float floor = floor_;
    std::size_t n = 0;
    for (std::size_t i = 0; i < n_found_; ++i) {
      const Hit<float> hit{found_[i].id, score(found_[i])};
      found_[n] = hit;
      n += (hit.score + more) * margin >= floor ? 1 : 0;
    }
    n_found_ = n;
  }

  // Adds a term to the found documents: from its table, by a search for each of few, or by reading the
  // window.
  void complete(Cursor& term, float more) {
    const Impacts impacts = term.impacts;
    const Formula score = formula(impacts);
    const std::size_t start = start_;
    if (!impacts.table.empty()) {
      keep(more, [&](const Hit<float>& hit) {
        const std::uint8_t* tfs = impacts.table.data() + (start + hit.id) * score.n_fields;
        if (std::find(tfs, tfs + score.n_fields, in_postings) == tfs + score.n_fields) {
          return hit.score + score(tfs, start + hit.id);
        }
        Cursor whole{impacts};
        return hit.score + sought(whole, start_ + hit.id);
      });
      return;
    }
    term.seek(start_);
    const std::size_t n_docs = context_.gains.size() / context_.n_fields;
    if (n_found_ * postings_worth_a_search <= impacts.ids.size() * window / n_docs) {
      std::sort(found_.get(), found_.get() + n_found_,
                [](const auto& a, const auto& b) { return a.id < b.id; });
      keep(more, [&](const Hit<float>& hit) { return hit.score + sought(term, start_ + hit.id); });
      return;
    }
    float* const sums = sums_.data();
    const std::size_t first = term.at;
    for_each_in_window(term, [&](std::uint32_t local, std::size_t i) {
      sums[local] = score(impacts.tfs.data() + i * score.n_fields, start + local);
    });
    keep(more, [&](const Hit<float>& hit) { return hit.score + sums[hit.id]; });
    for (std::size_t i = first; i < term.at; ++i) sums[impacts.ids[i] - start_] = 0.0F;
  }

  // The score of the term in a document, 0 where that lacks it; `id` is not below that of the cursor.
  [[nodiscard]] float sought(Cursor& term, std::uint32_t id) const {
    term.seek(id);
    if (term.done() || term.id() != id) return 0.0F;
    return formula(term.impacts)(term.impacts.tfs.data() + term.at * fields(), id);
  }

  // Takes the found documents of the window as candidates.
  void settle() {
    for (std::size_t i = 0; i < n_found_; ++i) {
      const Hit<float> hit{start_ + found_[i].id, found_[i].score};
      if (!reaches(hit.score)) continue;  // the floor may have risen
      if (context_.visible != nullptr && !context_.visible->test(hit.id)) continue;
      if (context_.allowed != nullptr && !context_.allowed->test(hit.id)) continue;
      kept_.push_back(hit);
      top_.offer(hit);
      if (top_.full()) floor_ = std::max(floor_, top_.worst().score);
    }
  }

  const PruneContext& context_;
  TopK<float> top_;
  float margin_;
  float floor_ = 0.0F;
  std::vector<Cursor> terms_;
  std::vector<float> below_;   // below_[i]: what the first i terms can add at most
  std::size_t essential_ = 0;  // terms from here on are read whole
  std::uint32_t start_ = 0;
  std::vector<float> sums_;              // by document of the window; all 0 between the steps
  std::unique_ptr<Hit<float>[]> found_;  // the first `n_found_`; ids from the start of the window
  std::size_t n_found_ = 0;
  std::vector<Hit<float>> kept_;
};

template <int Fields>
std::vector<std::uint32_t> propose(const std::vector<Impacts>& terms, std::size_t k, float floor,
                                   const PruneContext& context) {
  // Rounding: each product, sum and quotient is off by at most 2^-24 of itself, all terms are positive, and a
  // score takes fewer than 2 * fields + terms + 12 one after the other. Twice that, on both sides of the
  // comparison.
  const auto roundings = static_cast<float>(2 * context.n_fields + terms.size() + 12);
  const float margin = 1.0F + roundings * 0x1p-22F;
  const auto cursors_from = [&](std::size_t first) {
    std::vector<Cursor> cursors;
    for (std::size_t i = first; i < terms.size(); ++i) cursors.push_back({terms[i]});
    return cursors;
  };

  std::size_t short_lists = terms.size();
  std::size_t postings = 0;
  while (short_lists > 0 && postings + terms[short_lists - 1].ids.size() <= probe_postings) {
    postings += terms[--short_lists].ids.size();
  }
  if (short_lists > 0 && short_lists < terms.size()) {
    Sweep<Fields> probe(k, context, margin);
    probe.run(cursors_from(short_lists), floor);
    floor = probe.floor();
  }
  Sweep<Fields> sweep(k, context, margin);
  sweep.run(cursors_from(0), floor);
  return sweep.take();
}

}  // namespace

std::vector<std::uint32_t> candidates(std::vector<Impacts> terms, std::size_t k, float floor,
                                      const PruneContext& context) {
  std::sort(terms.begin(), terms.end(), [](const Impacts& a, const Impacts& b) { return a.bound < b.bound; });
  std::vector<std::uint32_t> ids =
      context.n_fields == 1 ? propose<1>(terms, k, floor, context) : propose<0>(terms, k, floor, context);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace pincite::bm25
