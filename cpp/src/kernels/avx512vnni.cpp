#include "table.hpp"

// MSVC has the instructions under /arch:AVX512 and no macro for them.
#if defined(__AVX512VNNI__) || (defined(_MSC_VER) && !defined(__clang__) && defined(__AVX512F__))

#include "avx512_lanes.hpp"

namespace pincite::kernels {
namespace {

// The instruction multiplies unsigned by signed bytes: x + 128 is unsigned, and 128 * y is taken off again.
struct Avx512Vnni : Avx512Lanes {
  static constexpr std::size_t i8_step = 64;
  struct Sums {
    __m512i shifted, offset;
  };
  static Sums zero_i8() { return {_mm512_setzero_si512(), _mm512_setzero_si512()}; }
  static void add_product_i8(Sums& sums, const std::int8_t* x, const std::int8_t* y) {
    const __m512i high_bits = _mm512_set1_epi8(static_cast<char>(-128));
    const __m512i unsigned_x = _mm512_xor_si512(_mm512_loadu_si512(x), high_bits);
    const __m512i signed_y = _mm512_loadu_si512(y);
    sums.shifted = _mm512_dpbusd_epi32(sums.shifted, unsigned_x, signed_y);
    sums.offset = _mm512_dpbusd_epi32(sums.offset, high_bits, signed_y);
  }
  static std::int32_t total(const Sums& sums) {
    return total_of(_mm512_sub_epi32(sums.shifted, sums.offset));
  }
};

constexpr Kernel kernel = kernel_of<Avx512Vnni>("avx512vnni");

}  // namespace

const Kernel* avx512vnni() noexcept { return &kernel; }

}  // namespace pincite::kernels

#else

const pincite::Kernel* pincite::kernels::avx512vnni() noexcept { return nullptr; }

#endif
