#include "table.hpp"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "avx512_lanes.hpp"

namespace pincite::kernels {
namespace {

struct Avx512 : Avx512Lanes {
  static constexpr std::size_t i8_step = 32;
  static Sums zero_i8() { return {_mm512_setzero_si512()}; }
  static __m512i widened(const std::int8_t* from) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static __m512i load_i8(const std::int8_t* from) { return widened(from); }
  static std::uint32_t excess_i8(const std::int8_t*, std::size_t) { return 0; }
  static void add_product_i8(Sums& sums, __m512i query, const std::int8_t* row) {
    sums.sum = _mm512_add_epi32(sums.sum, _mm512_madd_epi16(query, widened(row)));
  }
};

constexpr Kernel kernel = kernel_of<Avx512>("avx512");

}  // namespace

const Kernel* avx512() noexcept { return &kernel; }

}  // namespace pincite::kernels

#else

const pincite::Kernel* pincite::kernels::avx512() noexcept { return nullptr; }

#endif
