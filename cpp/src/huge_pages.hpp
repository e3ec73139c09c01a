// Memory for the large arrays that searches read at random: on Linux, on huge pages where the system grants
// them. A search that jumps from row to row otherwise spends a good part of its time on page-table walks.
#pragma once

#include <cstddef>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pincite {

template <class T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t nbytes = count * sizeof(T);
    void* at = ::operator new(nbytes, alignment(nbytes));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (nbytes >= page) (void)::madvise(at, nbytes / page * page, MADV_HUGEPAGE);  // advice: may be refused
#endif
    return static_cast<T*>(at);
  }
  void deallocate(T* at, std::size_t count) noexcept { ::operator delete(at, alignment(count * sizeof(T))); }

  template <class U>
  [[nodiscard]] bool operator==(const HugePageAllocator<U>&) const noexcept {
    return true;
  }

 private:
  static constexpr std::size_t page = std::size_t{1} << 21U;
  static constexpr std::size_t line = 64;
  static std::align_val_t alignment(std::size_t nbytes) noexcept {
    return std::align_val_t{nbytes >= page ? page : line};
  }
};

}  // namespace pincite
