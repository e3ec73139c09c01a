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
  static void prefetch(const void* at) { _mm_prefetch(static_cast<const char*>(at), _MM_HINT_T0); }
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
  static __m256i load_i8(const std::int8_t* from) { return widened(from); }
  static std::uint32_t excess_i8(const std::int8_t*, std::size_t) { return 0; }
  static void add_product_i8(Sums& sums, __m256i query, const std::int8_t* row) {
    sums.sum = _mm256_add_epi32(sums.sum, _mm256_madd_epi16(query, widened(row)));
  }
  static void totals(const Sums (&sums)[4], std::int32_t* out) {
    const __m256i ab = _mm256_hadd_epi32(sums[0].sum, sums[1].sum);
    const __m256i cd = _mm256_hadd_epi32(sums[2].sum, sums[3].sum);
    const __m256i abcd = _mm256_hadd_epi32(ab, cd);
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256(abcd, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), four);
  }

  static std::uint32_t not_below(__m256 x, __m256 least) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(x, least, _CMP_NLT_UQ)));
  }
  static std::uint32_t not_below(const Lanes& x, float least) {
    const __m256 all = _mm256_set1_ps(least);
    return not_below(x.a, all) | not_below(x.b, all) << 8U | not_below(x.c, all) << 16U |
           not_below(x.d, all) << 24U;
  }
};

constexpr Kernel kernel = kernel_of<Avx2>("avx2");

}  // namespace

const Kernel* avx2() noexcept { return &kernel; }

}  // namespace pincite::kernels

#else

const pincite::Kernel* pincite::kernels::avx2() noexcept { return nullptr; }

#endif
