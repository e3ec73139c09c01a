#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "pincite/error.hpp"
#include "pincite/half.hpp"
#include "pincite/kernels.hpp"

namespace {

TEST_CASE("kernels: scalar comes first and the default is the last, or the forced one") {
  const auto all = pincite::available_kernels();
  REQUIRE(!all.empty());
  CHECK(all.front()->name == "scalar");
  CHECK(&pincite::kernel_by_name("scalar") == all.front());
  CHECK_THROWS_AS((void)pincite::kernel_by_name("mmx"), pincite::InvalidInputError);
}

TEST_CASE("kernels: one result, and no read past the end") {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  const pincite::Kernel& scalar = pincite::kernel_by_name("scalar");
  for (const std::size_t dim : {1U, 7U, 31U, 32U, 33U, 63U, 64U, 65U, 384U, 500U, 1024U}) {
    // Exactly sized, so that the address sanitizer sees a read past the end.
    std::vector<float> query(dim), rows(dim * 5), expected(5), found(5);
    for (float& x : query) x = uniform(random);
    for (float& x : rows) x = uniform(random);
    std::vector<pincite::Half> halves;
    for (const float x : rows) halves.push_back(pincite::half_from_float(x));
    std::vector<std::int8_t> bytes;
    for (const float x : rows) bytes.push_back(static_cast<std::int8_t>(x * 127.0F));
    std::vector<std::int32_t> expected_i8(5), found_i8(5);
    for (const pincite::Kernel* kernel : pincite::available_kernels()) {
      CAPTURE(kernel->name);
      CAPTURE(dim);
      scalar.dot_rows(query.data(), rows.data(), 5, dim, expected.data());
      kernel->dot_rows(query.data(), rows.data(), 5, dim, found.data());
      CHECK(found == expected);
      CHECK(kernel->dot(query.data(), rows.data(), dim) == expected[0]);
      scalar.dot_rows_f16(query.data(), halves.data(), 5, dim, expected.data());
      kernel->dot_rows_f16(query.data(), halves.data(), 5, dim, found.data());
      CHECK(found == expected);
      scalar.dot_rows_i8(bytes.data(), bytes.data(), 5, dim, expected_i8.data());
      kernel->dot_rows_i8(bytes.data(), bytes.data(), 5, dim, found_i8.data());
      CHECK(found_i8 == expected_i8);
    }
  }
}

TEST_CASE("kernels: one bound, and one answer to which values are not below another") {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  const pincite::Kernel& scalar = pincite::kernel_by_name("scalar");
  for (std::size_t count = 0; count <= 64; ++count) {
    std::vector<float> scales(count), residuals(count), values(count);
    std::vector<std::int32_t> products(count);
    for (std::size_t i = 0; i < count; ++i) {
      scales[i] = uniform(random);
      residuals[i] = uniform(random);
      values[i] = i % 7 == 3    ? 0.25F
                  : i % 11 == 5 ? std::numeric_limits<float>::quiet_NaN()
                                : uniform(random);
      products[i] = static_cast<std::int32_t>(random());
    }
    std::vector<float> expected(count), found(count);
    for (const pincite::Kernel* kernel : pincite::available_kernels()) {
      CAPTURE(kernel->name);
      CAPTURE(count);
      scalar.bound_i8(products.data(), scales.data(), residuals.data(), count, 0.3F, 1.1F, expected.data());
      kernel->bound_i8(products.data(), scales.data(), residuals.data(), count, 0.3F, 1.1F, found.data());
      CHECK(found == expected);
      scalar.bound(expected.data(), residuals.data(), count, 1.1F);
      kernel->bound(found.data(), residuals.data(), count, 1.1F);
      CHECK(found == expected);
      std::uint64_t wanted = 0;
      for (std::size_t i = 0; i < count; ++i) wanted |= std::uint64_t{!(values[i] < 0.25F)} << i;
      CHECK(kernel->not_below(values.data(), count, 0.25F) == wanted);
    }
  }
}

TEST_CASE("half: every finite half survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<pincite::Half>(bits);
    if ((bits & 0x7C00U) == 0x7C00U && (bits & 0x3FFU) != 0) continue;  // NaN
    CHECK(pincite::half_from_float(pincite::float_from_half(half)) == half);
  }
  CHECK(pincite::half_from_float(70000.0F) == 0x7C00U);
  CHECK(pincite::half_from_float(-70000.0F) == 0xFC00U);
}

}  // namespace
