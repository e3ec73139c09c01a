// The operating system's files, as the envelope needs them: map one, replace one whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace pincite::file {

/// The path as UTF-8, for messages.
[[nodiscard]] std::string display(const std::filesystem::path& path);

struct Map {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // the map lives as long as this does
};

/// Maps a whole file for reading. An empty file gives no bytes. Throws StorageError.
[[nodiscard]] Map map(const std::filesystem::path& path);

/// Writes beside `path` and takes its place at `commit`, synced; removed if that never comes.
class AtomicWriter {
 public:
  explicit AtomicWriter(std::filesystem::path path);
  ~AtomicWriter();
  AtomicWriter(const AtomicWriter&) = delete;
  AtomicWriter& operator=(const AtomicWriter&) = delete;

  void append(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::uint64_t size_ = 0;
  std::intptr_t handle_;
};

}  // namespace pincite::file
