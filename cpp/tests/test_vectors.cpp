#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "pincite/error.hpp"
#include "pincite/vectors.hpp"

namespace {

using pincite::Vectors;

std::string refusal(const std::vector<float>& values, std::size_t dim, bool normalize) {
  try {
    (void)Vectors::copy(values, dim, normalize);
  } catch (const pincite::InvalidInputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("vectors: rows that cannot be used are named") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(refusal({1, 0, nan, 0}, 2, true).find("vector 1 holds NaN at component 0") == 0);
  CHECK(refusal({1, 0, 0, -inf}, 2, true).find("vector 1 holds an infinity at component 1") == 0);
  CHECK(refusal({1, 0, 0, -0.0F}, 2, true).find("vector 1 is all zeros") == 0);
  CHECK(refusal({1, 0, 0, 2}, 2, false).find("vector 1 has norm 2") == 0);
  CHECK(refusal({1, 0, 0}, 2, false).find("3 values are no whole number") == 0);
  CHECK(refusal({}, 0, false).find("vectors have 0 components") == 0);
}

TEST_CASE("vectors: normalising reaches norm 1 from both ends of the range") {
  const std::vector<float> values = {3e38F, 3e38F, 1e-45F, 3e-45F, 1e-39F, 0.0F};
  const auto vectors = Vectors::copy(values, 2, true);
  REQUIRE(vectors->size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::hypot(vectors->row(i)[0], vectors->row(i)[1]) == doctest::Approx(1.0).epsilon(1e-6));
  }
}

TEST_CASE("vectors: within the tolerance rows stay as they are") {
  const std::vector<float> values = {1.0005F, 0.0F};
  CHECK(Vectors::copy(values, 2, false)->row(0)[0] == 1.0005F);
}

TEST_CASE("vectors: a view keeps its owner") {
  auto owner = std::make_shared<std::vector<float>>(4, 0.5F);
  const std::weak_ptr<std::vector<float>> watch = owner;
  auto view = Vectors::view(*owner, 4, owner);
  owner.reset();
  CHECK(!watch.expired());
  CHECK(view->row(0)[3] == 0.5F);
  view.reset();
  CHECK(watch.expired());
}

TEST_CASE("vectors: a query is held to the index") {
  const std::vector<float> query = {1.0F, 0.0F};
  CHECK(pincite::checked_query(query, 2, false) == query);
  CHECK_THROWS_AS((void)pincite::checked_query(query, 3, true), pincite::InvalidInputError);
}

}  // namespace
