#include "pincite/vectors.hpp"

#include <cmath>
#include <string>

#include "huge_pages.hpp"
#include "pincite/error.hpp"

namespace pincite {
namespace {

// The norm in double precision, or an InvalidInputError that begins with `who`.
double checked_norm(const float* row, std::size_t dim, bool normalize, const std::string& who) {
  double squares = 0.0;
  for (std::size_t i = 0; i < dim; ++i) {
    if (!std::isfinite(row[i])) {
      throw InvalidInputError(who + " holds " + (std::isnan(row[i]) ? "NaN" : "an infinity") +
                              " at component " + std::to_string(i) +
                              "; every component has to be a finite number");
    }
    squares += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  }
  const double norm = std::sqrt(squares);
  if (norm == 0.0) {
    throw InvalidInputError(who + " is all zeros and has no direction; leave it out, or give it a value");
  }
  if (!normalize && std::abs(norm - 1.0) > norm_tolerance) {
    throw InvalidInputError(who + " has norm " + std::to_string(norm) +
                            ", wanted 1 within 0.001; normalise it, or pass normalize=True");
  }
  return norm;
}

void scale(const float* from, float* to, std::size_t dim, double norm) {
  for (std::size_t i = 0; i < dim; ++i) to[i] = static_cast<float>(static_cast<double>(from[i]) / norm);
}

}  // namespace

std::shared_ptr<const Vectors> Vectors::copy(std::span<const float> values, std::size_t dim, bool normalize) {
  if (dim == 0) throw InvalidInputError("vectors have 0 components, wanted at least 1");
  if (values.size() % dim != 0) {
    throw InvalidInputError(std::to_string(values.size()) +
                            " values are no whole number of vectors of dimension " + std::to_string(dim));
  }
  std::shared_ptr<Vectors> out(new Vectors);
  out->dim_ = dim;
  out->size_ = values.size() / dim;
  if (out->size_ > 0xFFFFFFFFU) {
    throw InvalidInputError(std::to_string(out->size_) + " vectors given, an index holds at most 4294967295");
  }
  const auto owned = std::make_shared<std::vector<float, HugePageAllocator<float>>>(values.size());
  for (std::size_t r = 0; r < out->size_; ++r) {
    const float* from = values.data() + r * dim;
    const double norm = checked_norm(from, dim, normalize, "vector " + std::to_string(r));
    scale(from, owned->data() + r * dim, dim, normalize ? norm : 1.0);
  }
  out->data_ = owned->data();
  out->owner_ = owned;
  return out;
}

std::shared_ptr<const Vectors> Vectors::view(std::span<const float> values, std::size_t dim,
                                             std::shared_ptr<const void> owner) {
  std::shared_ptr<Vectors> out(new Vectors);
  out->data_ = values.data();
  out->dim_ = dim;
  out->size_ = dim == 0 ? 0 : values.size() / dim;
  out->owner_ = std::move(owner);
  return out;
}

std::vector<float> checked_query(std::span<const float> query, std::size_t dim, bool normalize,
                                 const std::string& who) {
  if (query.size() != dim) {
    throw InvalidInputError(who + " has " + std::to_string(query.size()) + " values, the index has " +
                            std::to_string(dim) +
                            " dimensions; encode it with the model the index was built with");
  }
  const double norm = checked_norm(query.data(), dim, normalize, who);
  std::vector<float> out(dim);
  scale(query.data(), out.data(), dim, normalize ? norm : 1.0);
  return out;
}

}  // namespace pincite
