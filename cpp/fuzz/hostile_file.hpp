// What the targets that load files share: checksums made right, a file in memory, a bound on what loading
// takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Makes the size and all checksums of an envelope right, as far as its table can be followed: a loader then
/// gets to see whatever else is wrong.
void seal(Bytes& file);

/// The kind that a file says it is of.
[[nodiscard]] std::string_view kind_of(const Bytes& file);

/// The path of the one file in memory, which holds `bytes` now.
[[nodiscard]] std::filesystem::path in_memory(const Bytes& bytes);

/// Counts the bytes on the heap, by the hooks of the sanitizer's allocator.
class HeapMeter {
 public:
  HeapMeter();
  ~HeapMeter();
  HeapMeter(const HeapMeter&) = delete;
  HeapMeter& operator=(const HeapMeter&) = delete;
  /// The most that was held at once since the meter was made.
  [[nodiscard]] std::size_t most() const;
};

/// The file's bytes, sealed and put into memory.
class HostileFile {
 public:
  HostileFile(const std::uint8_t* data, std::size_t size) : bytes_(data, data + size) {
    seal(bytes_);
    path_ = in_memory(bytes_);
  }

  [[nodiscard]] std::string_view kind() const { return kind_of(bytes_); }

  /// Calls `load(path)`, which may hold no more at once than twice the file, and what errors and tables of
  /// sections take.
  template <class Load>
  [[nodiscard]] auto load(const Load& load) const {
    const Bound bound{2 * bytes_.size() + 4096};
    return load(path_);
  }

 private:
  struct Bound {
    std::size_t nbytes;
    HeapMeter meter{};
    ~Bound() {
      if (meter.most() > nbytes) std::abort();
    }
  };
  Bytes bytes_;
  std::filesystem::path path_;
};

}  // namespace fuzz
