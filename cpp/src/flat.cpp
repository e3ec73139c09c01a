#include "pincite/flat.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "huge_pages.hpp"
#include "parallel.hpp"
#include "pincite/error.hpp"
#include "quantise.hpp"

namespace pincite {
namespace {

constexpr std::array<std::string_view, 3> storage_names = {"float32", "float16", "int8"};

// Rows are scored in blocks that stay in the second-level cache while every query of a batch passes over
// them.
constexpr std::size_t block_nbytes = std::size_t{256} << 10U;
constexpr std::size_t block_unit = 64;  // a word of the bitmap

std::size_t rows_per_block(std::size_t row_nbytes) {
  return std::clamp<std::size_t>(block_nbytes / row_nbytes / block_unit, 1, 64) * block_unit;
}

// How far two float32 dot products of vectors with norm near 1 may stray from the exact ones, together. Each
// takes one rounding for its products and dim / 32 + 5 for its sums, so |error| <= (dim / 32 + 7) 2^-24 ||a||
// ||b|| to first order (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 3.1).
// Two of them make 2^-23; 2^-22 leaves room for norms of 1.001 and for underflow.
double rounding_slack(std::size_t dim) { return static_cast<double>(dim / 32 + 8) * 0x1p-22; }

double norm_of(std::span<const float> values) {
  double squares = 0.0;
  for (const float x : values) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

}  // namespace

Storage storage_by_name(std::string_view name) {
  const auto at = std::find(storage_names.begin(), storage_names.end(), name);
  if (at == storage_names.end()) {
    throw InvalidInputError("storage is '" + std::string(name) + "', wanted 'float32', 'float16' or 'int8'");
  }
  return static_cast<Storage>(at - storage_names.begin());
}

std::string_view name_of(Storage storage) noexcept {
  return storage_names[static_cast<std::size_t>(storage)];
}

FlatIndex FlatIndex::build(std::shared_ptr<const Vectors> vectors, Storage storage) {
  struct Owned {
    std::vector<Half, HugePageAllocator<Half>> halves;
    std::vector<std::int8_t, HugePageAllocator<std::int8_t>> codes;
    std::vector<float> scales, residuals;
  };
  FlatIndex out;
  out.vectors_ = std::move(vectors);
  out.storage_ = storage;
  if (storage == Storage::float32) return out;

  const std::size_t size = out.vectors_->size();
  const std::size_t dim = out.vectors_->dim();
  if (storage == Storage::int8 && dim > max_int8_dim) {
    throw InvalidInputError("vectors have " + std::to_string(dim) +
                            " components, storage 'int8' takes at most " + std::to_string(max_int8_dim) +
                            "; use 'float16'");
  }
  auto owned = std::make_shared<Owned>();
  owned->residuals.resize(size);
  if (storage == Storage::float16) {
    owned->halves.resize(size * dim);
    for (std::size_t r = 0; r < size; ++r) {
      const std::span<Half> to = std::span(owned->halves).subspan(r * dim, dim);
      owned->residuals[r] = rounded_up(quantise({out.vectors_->row(r), dim}, to));
    }
  } else {
    owned->codes.resize(size * dim);
    owned->scales.resize(size);
    for (std::size_t r = 0; r < size; ++r) {
      const std::span<std::int8_t> to = std::span(owned->codes).subspan(r * dim, dim);
      const Int8Copy made = quantise({out.vectors_->row(r), dim}, to);
      owned->scales[r] = made.scale;
      owned->residuals[r] = rounded_up(made.residual);
    }
  }
  out.copy_ = {owned->halves, owned->codes, owned->scales, owned->residuals, owned};
  return out;
}

struct FlatIndex::Query {
  std::span<const float> values;
  // |score - the copy's score| <= fixed + norm * residual of the row (Cauchy-Schwarz), where `norm` is that
  // of the query as the copy sees it and `fixed` holds the query's own residual and the rounding of both
  // sums and of the bound.
  float norm = 0.0F;
  double fixed = 0.0;
  std::vector<std::int8_t> codes;  // int8 only
  float scale = 0.0F;
};

FlatIndex::Query FlatIndex::prepared(std::span<const float> query) const {
  Query out{query, 0.0F, rounding_slack(query.size()), {}, 0.0F};
  if (storage_ == Storage::float32) return out;
  double norm = norm_of(query);
  if (storage_ == Storage::int8) {
    out.codes.resize(query.size());
    const Int8Copy made = quantise(query, out.codes);
    out.scale = made.scale;
    norm += made.residual;
    out.fixed += made.residual * (1.0 + 2 * norm_tolerance);
  }
  // The bound c + norm * r is made in float32 with at most four roundings of c and two of norm * r, where |c|
  // <= 1.003 + norm * r: it is too low by no more than 2^-24 (4.02 + 6 norm * r).
  out.fixed += 0x1.1p-22;
  out.norm = rounded_up(norm * (1.0 + 0x1p-21));
  return out;
}

// One thread's pass over a range of rows.
class FlatIndex::Scan {
 public:
  Scan(const FlatIndex& index, const Kernel& kernel, std::size_t k, const Bitmap* allowed, float min_score)
      : index_(index),
        kernel_(kernel),
        k_(k),
        allowed_(allowed),
        min_score_(min_score),
        dim_(index.vectors_->dim()) {
    const std::size_t value_nbytes = index.storage_ == Storage::float32   ? sizeof(float)
                                     : index.storage_ == Storage::float16 ? sizeof(Half)
                                                                          : sizeof(std::int8_t);
    block_ = rows_per_block(dim_ * value_nbytes);
    scores_.resize(block_);
    products_.resize(index.storage_ == Storage::int8 ? block_ : 0);
  }

  // `begin` is a multiple of 64.
  void run(std::span<const Query> queries, std::size_t begin, std::size_t end, std::span<TopK<float>> best) {
    for (std::size_t at = begin; at < end; at += block_) {
      const std::size_t stop = std::min(end, at + block_);
      const std::size_t wanted = allowed_ == nullptr ? stop - at : count_allowed(at, stop);
      if (wanted == 0) continue;
      // Scoring a whole block in order is some four times as fast a row as picking single rows.
      const bool sparse = wanted * 4 < stop - at;
      for (std::size_t q = 0; q < queries.size(); ++q) {
        if (sparse) {
          each_allowed(at, stop, [&](std::size_t row) { score_again(queries[q], row, best[q]); });
        } else if (index_.storage_ == Storage::float32) {
          scan_rows(queries[q], at, stop, best[q]);
        } else {
          scan_copy(queries[q], at, stop, best[q]);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::size_t count_allowed(std::size_t at, std::size_t stop) const {
    std::size_t count = 0;
    for (std::size_t w = at / 64; w < (stop + 63) / 64; ++w) {
      count += static_cast<std::size_t>(std::popcount(allowed_->words()[w]));
    }
    return count;
  }

  template <class Visit>
  void each_allowed(std::size_t at, std::size_t stop, const Visit& visit) const {
    for (std::size_t w = at / 64; w < (stop + 63) / 64; ++w) {
      for (std::uint64_t bits = allowed_->words()[w]; bits != 0; bits &= bits - 1) {
        visit(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      }
    }
  }

  // Visits the allowed rows of a block whose value in scores_ is not below `lowest()`, asked before each 64.
  template <class Lowest, class Visit>
  void each_reaching(std::size_t at, std::size_t stop, const Lowest& lowest, const Visit& visit) const {
    for (std::size_t from = at; from < stop; from += block_unit) {
      const std::size_t count = std::min(block_unit, stop - from);
      std::uint64_t bits = kernel_.not_below(scores_.data() + (from - at), count, lowest());
      if (allowed_ != nullptr) bits &= allowed_->words()[from / block_unit];
      for (; bits != 0; bits &= bits - 1) visit(from + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }

  void scan_rows(const Query& query, std::size_t at, std::size_t stop, TopK<float>& best) {
    kernel_.dot_rows(query.values.data(), index_.vectors_->row(at), stop - at, dim_, scores_.data());
    each_reaching(
        at, stop, [&] { return least(best); }, [&](std::size_t row) { offer(row, scores_[row - at], best); });
  }

  void scan_copy(const Query& query, std::size_t at, std::size_t stop, TopK<float>& best) {
    bound_copy(query, at, stop);
    if (best.size() == 0 && k_ * 4 <= stop - at) seed(query, at, stop, best);
    const auto lowest = [&] { return rounded_down(static_cast<double>(least(best)) - query.fixed); };
    each_reaching(at, stop, lowest, [&](std::size_t row) {
      // The threshold may have risen within the 64. A NaN bound, from a forged file, is no reason to skip.
      if (!(scores_[row - at] < lowest())) score_again(query, row, best);
    });
  }

  // Scores the k rows of the highest bounds first: the threshold they leave spares most of the others. Rows
  // that are done get a bound below every threshold.
  void seed(const Query& query, std::size_t at, std::size_t stop, TopK<float>& best) {
    TopK<float> promising(k_);
    const auto lowest = [&] { return rounded_down(static_cast<double>(min_score_) - query.fixed); };
    each_reaching(at, stop, lowest, [&](std::size_t row) {
      const float bound = scores_[row - at];
      if (!std::isnan(bound)) promising.offer({static_cast<std::uint32_t>(row), bound});
    });
    if (!promising.full()) return;  // then there may be no threshold afterwards
    for (const Hit<float>& hit : promising.take()) {
      score_again(query, hit.id, best);
      scores_[hit.id - at] = -std::numeric_limits<float>::infinity();
    }
  }

  // Fills scores_ with upper bounds, but for the query's `fixed`, from the copy.
  void bound_copy(const Query& query, std::size_t at, std::size_t stop) {
    const std::size_t count = stop - at;
    const float* residuals = index_.copy_.residuals.data() + at;
    if (index_.storage_ == Storage::float16) {
      kernel_.dot_rows_f16(query.values.data(), index_.copy_.halves.data() + at * dim_, count, dim_,
                           scores_.data());
      kernel_.bound(scores_.data(), residuals, count, query.norm);
      return;
    }
    kernel_.dot_rows_i8(query.codes.data(), index_.copy_.codes.data() + at * dim_, count, dim_,
                        products_.data());
    kernel_.bound_i8(products_.data(), index_.copy_.scales.data() + at, residuals, count, query.scale,
                     query.norm, scores_.data());
  }

  void score_again(const Query& query, std::size_t row, TopK<float>& best) const {
    offer(row, kernel_.dot(query.values.data(), index_.vectors_->row(row), dim_), best);
  }

  // What a row has to score to be among the best so far.
  [[nodiscard]] float least(const TopK<float>& best) const {
    return best.full() ? std::max(min_score_, best.worst().score) : min_score_;
  }

  void offer(std::size_t row, float score, TopK<float>& best) const {
    if (score < least(best)) return;
    if (!std::isfinite(score)) {
      throw IndexCorruptError("row " + std::to_string(row) +
                              " of the index scores no finite number; its file is damaged: build it again");
    }
    best.offer({static_cast<std::uint32_t>(row), score});
  }

  const FlatIndex& index_;
  const Kernel& kernel_;
  std::size_t k_;
  const Bitmap* allowed_;
  float min_score_;
  std::size_t dim_;
  std::size_t block_;
  std::vector<float> scores_;
  std::vector<std::int32_t> products_;  // int8 only
};

std::vector<FlatIndex::Hits> FlatIndex::search(std::span<const float> queries, std::size_t k,
                                               const Bitmap* allowed, std::size_t threads,
                                               const Kernel& kernel, float min_score) const {
  if (k == 0) throw InvalidInputError("k is 0, wanted at least 1");
  if (threads == 0) throw InvalidInputError("threads is 0, wanted at least 1");
  const std::size_t size = vectors_->size();
  const std::size_t dim = vectors_->dim();
  const std::size_t count = queries.size() / dim;
  std::vector<Query> prepared_queries;
  for (std::size_t q = 0; q < count; ++q) prepared_queries.push_back(prepared(queries.subspan(q * dim, dim)));

  // One query: each part scans some of the rows. Several: each part answers some of the queries.
  const bool by_rows = count == 1;
  const std::size_t units = by_rows ? (size + block_unit - 1) / block_unit : count;
  const std::size_t parts = std::min({threads, max_threads, units});
  const std::size_t room = std::min(k, size);
  std::vector<TopK<float>> best(by_rows ? parts : count, TopK<float>(room));
  run_parts(parts, [&](std::size_t part) {
    const std::size_t from = units * part / parts;
    const std::size_t to = units * (part + 1) / parts;
    Scan scan(*this, kernel, room, allowed, min_score);
    if (by_rows) {
      scan.run(prepared_queries, from * block_unit, std::min(size, to * block_unit),
               std::span(best).subspan(part, 1));
    } else {
      scan.run(std::span(prepared_queries).subspan(from, to - from), 0, size,
               std::span(best).subspan(from, to - from));
    }
  });

  std::vector<Hits> out(count);
  if (!by_rows) {
    for (std::size_t q = 0; q < count; ++q) out[q] = best[q].take();
    return out;
  }
  TopK<float> merged(room);
  for (TopK<float>& part : best) {
    for (const Hit<float>& hit : part.take()) merged.offer(hit);
  }
  out[0] = merged.take();
  return out;
}

}  // namespace pincite
