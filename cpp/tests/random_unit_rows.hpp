// Unit vectors that tests of several files search in.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "pincite/vectors.hpp"

inline std::shared_ptr<const pincite::Vectors> random_unit_rows(std::size_t n, std::size_t dim,
                                                                unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n * dim);
  for (float& value : values) value = normal(random);
  return pincite::Vectors::copy(values, dim, true);
}
