#include "table.hpp"

#if defined(__AVX2__)

#include <immintrin.h>

#include "lanes.hpp"

namespace pincite::kernels {
namespace {

struct Avx2 {
  struct Lanes {
    __m256 a, b, c, d;
  };
  static Lanes zero() {
    return {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  }
  static Lanes load(const float* from) {
    return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8), _mm256_loadu_ps(from + 16),
            _mm256_loadu_ps(from + 24)};
  }
  static __m256 load_halves(const std::uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Lanes load(const std::uint16_t* from) {
    return {load_halves(from), load_halves(from + 8), load_halves(from + 16), load_halves(from + 24)};
  }
  static void add_product(Lanes& sum, const Lanes& x, const Lanes& y) {
    sum.a = _mm256_add_ps(sum.a, _mm256_mul_ps(x.a, y.a));
    sum.b = _mm256_add_ps(sum.b, _mm256_mul_ps(x.b, y.b));
    sum.c = _mm256_add_ps(sum.c, _mm256_mul_ps(x.c, y.c));
    sum.d = _mm256_add_ps(sum.d, _mm256_mul_ps(x.d, y.d));
  }
  static float fold(const Lanes& sum) {
    const __m256 eight = _mm256_add_ps(_mm256_add_ps(sum.a, sum.c), _mm256_add_ps(sum.b, sum.d));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

  static constexpr std::size_t i8_step = 16;
  struct Sums {
    __m256i sum;
  };
  static Sums zero_i8() { return {_mm256_setzero_si256()}; }
  static __m256i widened(const std::int8_t* from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static void add_product_i8(Sums& sums, const std::int8_t* x, const std::int8_t* y) {
    sums.sum = _mm256_add_epi32(sums.sum, _mm256_madd_epi16(widened(x), widened(y)));
  }
  static std::int32_t total(const Sums& sums) {
    const __m128i four =
        _mm_add_epi32(_mm256_castsi256_si128(sums.sum), _mm256_extracti128_si256(sums.sum, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
  }
};

constexpr Kernel kernel = kernel_of<Avx2>("avx2");

}  // namespace

const Kernel* avx2() noexcept { return &kernel; }

}  // namespace pincite::kernels

#else

const pincite::Kernel* pincite::kernels::avx2() noexcept { return nullptr; }

#endif
