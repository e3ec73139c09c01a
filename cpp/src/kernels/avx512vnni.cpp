#include "table.hpp"

// MSVC has the instructions under /arch:AVX512 and no macro for them.
#if defined(__AVX512VNNI__) || (defined(_MSC_VER) && !defined(__clang__) && defined(__AVX512F__))

#include "avx512_lanes.hpp"

namespace pincite::kernels {
namespace {

// The instruction multiplies unsigned by signed bytes. The row is made unsigned by adding 128, so that what
// the sums are too high by, 128 times the query's sum, is found once a call. It may pass 2^31: it is taken
// off modulo 2^32.
struct Avx512Vnni : Avx512Lanes {
  static constexpr std::size_t i8_step = 64;
  static Sums zero_i8() { return {_mm512_setzero_si512()}; }
  static __m512i load_i8(const std::int8_t* from) { return _mm512_loadu_si512(from); }
  static std::uint32_t excess_i8(const std::int8_t* query, std::size_t dim) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < dim; ++i) sum += query[i];
    return std::uint32_t{128} * static_cast<std::uint32_t>(sum);
  }
  static void add_product_i8(Sums& sums, __m512i query, const std::int8_t* row) {
    const __m512i high_bits = _mm512_set1_epi8(static_cast<char>(-128));
    sums.sum = _mm512_dpbusd_epi32(sums.sum, _mm512_xor_si512(_mm512_loadu_si512(row), high_bits), query);
  }
};

constexpr Kernel kernel = kernel_of<Avx512Vnni>("avx512vnni");

}  // namespace

const Kernel* avx512vnni() noexcept { return &kernel; }

}  // namespace pincite::kernels

#else

const pincite::Kernel* pincite::kernels::avx512vnni() noexcept { return nullptr; }

#endif
