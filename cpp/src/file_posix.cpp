#if !defined(_WIN32)

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

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

AtomicWriter::AtomicWriter(std::filesystem::path path) : path_(std::move(path)), handle_(-1) {
  std::string name = path_.string() + ".XXXXXX.tmp";
  std::vector<char> pattern(name.begin(), name.end());
  pattern.push_back('\0');
  handle_ = ::mkstemps(pattern.data(), 4);
  if (handle_ < 0) refuse("cannot write beside", path_);
  temporary_ = pattern.data();
  // mkstemps makes the file private; an index is as readable as any other file its owner makes.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(static_cast<int>(handle_), 0666 & ~mask);
}

AtomicWriter::~AtomicWriter() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
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
  if (::close(static_cast<int>(std::exchange(handle_, -1))) != 0) refuse("cannot close", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse("cannot replace", path_);
  temporary_.clear();
  sync_folder(path_);
}

}  // namespace pincite::file

#endif
