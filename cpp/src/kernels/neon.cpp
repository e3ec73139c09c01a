#include "table.hpp"

#if defined(__aarch64__) || defined(_M_ARM64)

#include <arm_neon.h>

#include "lanes.hpp"

namespace pincite::kernels {
namespace {

struct Neon {
  struct Lanes {
    float32x4_t a, b, c, d, e, f, g, h;
  };
  static void prefetch([[maybe_unused]] const void* at) {
#if !defined(_MSC_VER)
    __builtin_prefetch(at);
#endif
  }
  static Lanes zero() {
    const float32x4_t z = vdupq_n_f32(0.0F);
    return {z, z, z, z, z, z, z, z};
  }
  static Lanes load(const float* from) {
    return {vld1q_f32(from),      vld1q_f32(from + 4),  vld1q_f32(from + 8),  vld1q_f32(from + 12),
            vld1q_f32(from + 16), vld1q_f32(from + 20), vld1q_f32(from + 24), vld1q_f32(from + 28)};
  }
  static float32x4_t load_halves(const std::uint16_t* from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  }
  static Lanes load(const std::uint16_t* from) {
    return {load_halves(from),      load_halves(from + 4),  load_halves(from + 8),  load_halves(from + 12),
            load_halves(from + 16), load_halves(from + 20), load_halves(from + 24), load_halves(from + 28)};
  }
  static void add_product(Lanes& sum, const Lanes& x, const Lanes& y) {
    sum.a = vaddq_f32(sum.a, vmulq_f32(x.a, y.a));
    sum.b = vaddq_f32(sum.b, vmulq_f32(x.b, y.b));
    sum.c = vaddq_f32(sum.c, vmulq_f32(x.c, y.c));
    sum.d = vaddq_f32(sum.d, vmulq_f32(x.d, y.d));
    sum.e = vaddq_f32(sum.e, vmulq_f32(x.e, y.e));
    sum.f = vaddq_f32(sum.f, vmulq_f32(x.f, y.f));
    sum.g = vaddq_f32(sum.g, vmulq_f32(x.g, y.g));
    sum.h = vaddq_f32(sum.h, vmulq_f32(x.h, y.h));
  }
  static float fold(const Lanes& sum) {
    const float32x4_t ae = vaddq_f32(sum.a, sum.e);
    const float32x4_t bf = vaddq_f32(sum.b, sum.f);
    const float32x4_t cg = vaddq_f32(sum.c, sum.g);
    const float32x4_t dh = vaddq_f32(sum.d, sum.h);
    const float32x4_t four = vaddq_f32(vaddq_f32(ae, cg), vaddq_f32(bf, dh));
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
  }

  static constexpr std::size_t i8_step = 16;
  struct Sums {
    int32x4_t sum;
  };
  static Sums zero_i8() { return {vdupq_n_s32(0)}; }
  static int8x16_t load_i8(const std::int8_t* from) { return vld1q_s8(from); }
  static std::uint32_t excess_i8(const std::int8_t*, std::size_t) { return 0; }
  static void add_product_i8(Sums& sums, int8x16_t query, const std::int8_t* row) {
    const int8x16_t y = vld1q_s8(row);
    sums.sum = vpadalq_s16(sums.sum, vmull_s8(vget_low_s8(query), vget_low_s8(y)));
    sums.sum = vpadalq_s16(sums.sum, vmull_s8(vget_high_s8(query), vget_high_s8(y)));
  }
  static void totals(const Sums (&sums)[4], std::int32_t* out) {
    vst1q_s32(out, vpaddq_s32(vpaddq_s32(sums[0].sum, sums[1].sum), vpaddq_s32(sums[2].sum, sums[3].sum)));
  }

  static std::uint32_t not_below(float32x4_t x, float32x4_t least) {
    constexpr std::uint32_t places[4] = {1, 2, 4, 8};
    return vaddvq_u32(vbicq_u32(vld1q_u32(places), vcltq_f32(x, least)));
  }
  static std::uint32_t not_below(const Lanes& x, float least) {
    const float32x4_t all = vdupq_n_f32(least);
    return not_below(x.a, all) | not_below(x.b, all) << 4U | not_below(x.c, all) << 8U |
           not_below(x.d, all) << 12U | not_below(x.e, all) << 16U | not_below(x.f, all) << 20U |
           not_below(x.g, all) << 24U | not_below(x.h, all) << 28U;
  }
};

constexpr Kernel kernel = kernel_of<Neon>("neon");

}  // namespace

const Kernel* neon() noexcept { return &kernel; }

}  // namespace pincite::kernels

#else

const pincite::Kernel* pincite::kernels::neon() noexcept { return nullptr; }

#endif
