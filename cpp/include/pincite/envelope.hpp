// The one file format of the core: named, checksummed sections behind a checked header.
//
//   bytes   field
//   0-7     magic 89 50 49 4E 43 49 54 0A ("\x89PINCIT\n": a text-mode copy breaks it)
//   8-11    format version (1)
//   12-15   byte order mark 0x01020304
//   16-31   kind, visible ASCII, zero-padded ("flat", "hnsw", "bm25", ...)
//   32-63   stamp: 32 bytes that the caller binds the file to (all zero: none)
//   64-71   file size in bytes
//   72-75   number of sections
//   76-79   CRC-32C of the section table
//   80-91   zero
//   92-95   CRC-32C of bytes 0-91
//   96-     section table, 48 bytes each: name (24, likewise), offset (8), nbytes (8), CRC-32C (4),
//           zero (4)
// Sections start at multiples of 64, in table order; the bytes between are zero. All integers little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pincite {

/// 32 bytes that say what an index was built with; compared by the store, carried by the file.
using Stamp = std::array<std::uint8_t, 32>;

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of `bytes`, continuing from `crc`.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0) noexcept;

/// Collects sections and writes them in one go. Holds views: the data has to outlive `write`.
class EnvelopeWriter {
 public:
  explicit EnvelopeWriter(std::string_view kind, Stamp stamp = {});

  template <class T>
  void add(std::string_view name, std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    add_bytes(name, std::as_bytes(values));
  }
  template <class T>
  void add(std::string_view name, const std::vector<T>& values) {
    add(name, std::span<const T>(values));
  }
  void add_bytes(std::string_view name, std::span<const std::byte> bytes);

  /// Writes to a temporary file beside `path`, syncs it, renames it over `path` and syncs the folder: after a
  /// crash `path` holds the old file or the new one, whole. Throws StorageError; `path` is then as it was.
  void write(const std::filesystem::path& path) const;

 private:
  struct Section {
    std::string name;
    std::span<const std::byte> bytes;
  };
  std::string kind_;
  Stamp stamp_;
  std::vector<Section> sections_;
};

/// A memory-mapped file. Nothing in it is believed before it is checked: the header and the table against
/// their checksums and the file size, then (unless `verify` is off) every section against its own.
class Envelope {
 public:
  /// Throws StorageError (cannot be read), IndexCorruptError (damaged, cut short, not ours) or
  /// IncompatibleIndexError (another kind, version or byte order).
  [[nodiscard]] static std::shared_ptr<const Envelope> open(const std::filesystem::path& path,
                                                            std::string_view kind, bool verify = true);

  [[nodiscard]] const Stamp& stamp() const noexcept { return stamp_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<std::string> names() const;
  /// Throws IndexCorruptError when there is no such section, or its length is no multiple of `unit`.
  [[nodiscard]] std::span<const std::byte> bytes(std::string_view name, std::size_t unit = 1) const;

  /// The section as values of T. Throws what `bytes` throws.
  template <class T>
  [[nodiscard]] std::span<const T> values(std::string_view name) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64);
    const std::span<const std::byte> raw = bytes(name, sizeof(T));
    return {reinterpret_cast<const T*>(raw.data()), raw.size() / sizeof(T)};
  }

  /// The section as exactly `count` values of T.
  template <class T>
  [[nodiscard]] std::span<const T> values(std::string_view name, std::uint64_t count) const {
    const std::span<const T> all = values<T>(name);
    if (all.size() != count) {
      refuse("section '" + std::string(name) + "' holds " + std::to_string(all.size()) + " values, wanted " +
             std::to_string(count));
    }
    return all;
  }

  /// A section that holds exactly one T.
  template <class T>
  [[nodiscard]] T value(std::string_view name) const {
    return values<T>(name, 1)[0];
  }

  /// Throws the IndexCorruptError that names the file and says `why` it cannot be used.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Section {
    std::string name;
    std::span<const std::byte> bytes;
  };
  Envelope() = default;

  std::filesystem::path path_;
  Stamp stamp_{};
  std::vector<Section> sections_;
  std::shared_ptr<const void> map_;
};

}  // namespace pincite
