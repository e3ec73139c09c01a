#if !defined(_WIN32)

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include "file.hpp"
#include "pincite/error.hpp"

namespace pincite::file {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::filesystem::path& path) {
  const int error_number = errno;
  throw StorageError(what + " " + display(path) + ": " + std::strerror(error_number), error_number);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

void sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  const std::filesystem::path folder = parent.empty() ? std::filesystem::path(".") : parent;
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) refuse("cannot sync the folder", folder);
}

constexpr std::string_view temporary = ".pincite-tmp";
constexpr std::size_t letters = 6;

std::string random_letters() {
  constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz012345";
  std::random_device random;
  std::string found;
  for (std::size_t i = 0; i < letters; ++i) found += alphabet[random() % alphabet.size()];
  return found;
}

// Removes what processes that were killed have left beside a path: their locks died with them.
void sweep(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  const std::string begin = path.filename().string() + ".";
  std::error_code error;
  std::filesystem::directory_iterator entry(parent.empty() ? std::filesystem::path(".") : parent, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != begin.size() + letters + temporary.size() || !name.starts_with(begin) ||
        !name.ends_with(temporary)) {
      continue;
    }
    const Descriptor fd(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (fd.get() >= 0 && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

}  // namespace

std::string display(const std::filesystem::path& path) { return path.string(); }

Map map(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe must not wait for its writer; a regular file does not mind.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) refuse("cannot open", path);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) refuse("cannot read the size of", path);
  if (!S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    refuse("not a regular file:", path);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) refuse("cannot map", path);
  std::shared_ptr<const void> owner(at, [size](void* mapped) { ::munmap(mapped, size); });
  return {{static_cast<const std::byte*>(at), size}, std::move(owner)};
}

// A file beside the path, locked for as long as it has not taken the path's place. One that is there and not
// locked was left by a process that was killed.
AtomicWriter::AtomicWriter(std::filesystem::path path) : path_(std::move(path)), handle_(-1) {
  sweep(path_);
  for (;;) {
    const std::string name = path_.string() + "." + random_letters() + std::string(temporary);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && (errno == EEXIST || errno == EINTR)) continue;
    if (fd < 0) refuse("cannot write beside", path_);
    handle_ = fd;
    temporary_ = name;
    while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat status{};
    if (::fstat(fd, &status) != 0 || status.st_nlink > 0) return;
    ::close(fd);  // swept between the two
  }
}

AtomicWriter::~AtomicWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

void AtomicWriter::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(static_cast<int>(handle_), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      refuse("cannot write", path_);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
}

void AtomicWriter::commit() {
  if (::fsync(static_cast<int>(handle_)) != 0) refuse("cannot sync", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse("cannot replace", path_);
  temporary_.clear();
  ::close(static_cast<int>(std::exchange(handle_, -1)));  // what it says changes nothing: all is on disk
  sync_folder(path_);
}

}  // namespace pincite::file

#endif
