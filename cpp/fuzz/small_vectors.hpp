// The vectors that seeds hold, and that graphs without any are searched over.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "pincite/vectors.hpp"

namespace fuzz {

inline std::shared_ptr<const pincite::Vectors> small_vectors(std::size_t rows = 40, std::size_t dim = 4) {
  std::minstd_rand random(7);
  std::vector<float> values(rows * dim);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
  return pincite::Vectors::copy(values, dim, true);
}

}  // namespace fuzz
