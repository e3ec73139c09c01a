// What the two AVX-512 kernels share: the float lanes. Internal linkage, see table.hpp.
#pragma once

// GCC 12 takes the "undefined" operands inside its own intrinsics for uninitialised variables (GCC bug
// 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include "lanes.hpp"

namespace pincite::kernels {
namespace {

struct Avx512Lanes {
  struct Lanes {
    __m512 a, b;
  };
  static void prefetch(const void* at) { _mm_prefetch(static_cast<const char*>(at), _MM_HINT_T0); }
  static Lanes zero() { return {_mm512_setzero_ps(), _mm512_setzero_ps()}; }
  static Lanes load(const float* from) { return {_mm512_loadu_ps(from), _mm512_loadu_ps(from + 16)}; }
  static __m512 load_halves(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static Lanes load(const std::uint16_t* from) { return {load_halves(from), load_halves(from + 16)}; }
  static void add_product(Lanes& sum, const Lanes& x, const Lanes& y) {
    sum.a = _mm512_add_ps(sum.a, _mm512_mul_ps(x.a, y.a));
    sum.b = _mm512_add_ps(sum.b, _mm512_mul_ps(x.b, y.b));
  }
  static float fold(const Lanes& sum) {
    const __m512 sixteen = _mm512_add_ps(sum.a, sum.b);
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(sixteen), _mm512_extractf32x8_ps(sixteen, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

  struct Sums {
    __m512i sum;
  };
  // Pairs of sums are interleaved and added until each 128 bits hold a part of all four.
  static void totals(const Sums (&sums)[4], std::int32_t* out) {
    const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(sums[0].sum, sums[1].sum),
                                        _mm512_unpackhi_epi32(sums[0].sum, sums[1].sum));
    const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(sums[2].sum, sums[3].sum),
                                        _mm512_unpackhi_epi32(sums[2].sum, sums[3].sum));
    const __m512i abcd = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    const __m256i eight = _mm256_add_epi32(_mm512_castsi512_si256(abcd), _mm512_extracti64x4_epi64(abcd, 1));
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), four);
  }

  static std::uint32_t not_below(const Lanes& x, float least) {
    const __m512 all = _mm512_set1_ps(least);
    const std::uint32_t low = _mm512_cmp_ps_mask(x.a, all, _CMP_NLT_UQ);
    const std::uint32_t high = _mm512_cmp_ps_mask(x.b, all, _CMP_NLT_UQ);
    return low | high << 16U;
  }
};

}  // namespace
}  // namespace pincite::kernels
