#if defined(_WIN32)

#include <windows.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "file.hpp"
#include "pincite/error.hpp"

namespace pincite::file {
namespace {

int error_number(DWORD code) {
  switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
      return EACCES;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    case ERROR_WRITE_PROTECT:
      return EROFS;
    case ERROR_FILENAME_EXCED_RANGE:
      return ENAMETOOLONG;
    default:
      return EIO;
  }
}

// A file that is open or mapped, in this process or another, is neither replaced nor removed here.
std::string explained(DWORD code) {
  std::string text = "system error " + std::to_string(code);
  if (error_number(code) == EACCES) text += "; close what has it open or loaded, here and in other processes";
  return text;
}

[[noreturn]] void refuse(const std::string& what, const std::filesystem::path& path) {
  const DWORD code = ::GetLastError();
  throw StorageError(what + " " + display(path) + ": " + explained(code), error_number(code));
}

HANDLE as_handle(std::intptr_t value) { return reinterpret_cast<HANDLE>(value); }

class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {}
  ~Handle() {
    if (handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE) ::CloseHandle(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

}  // namespace

std::string display(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

Map map(const std::filesystem::path& path) {
  const Handle file(::CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (file.get() == INVALID_HANDLE_VALUE) refuse("cannot open", path);
  LARGE_INTEGER size{};
  if (::GetFileSizeEx(file.get(), &size) == 0) refuse("cannot read the size of", path);
  if (size.QuadPart == 0) return {};
  const Handle mapping(::CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  if (mapping.get() == nullptr) refuse("cannot map", path);
  void* at = ::MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0);
  if (at == nullptr) refuse("cannot map", path);
  std::shared_ptr<const void> owner(at, [](void* mapped) { ::UnmapViewOfFile(mapped); });
  return {{static_cast<const std::byte*>(at), static_cast<std::size_t>(size.QuadPart)}, std::move(owner)};
}

AtomicWriter::AtomicWriter(std::filesystem::path path) : path_(std::move(path)), handle_(0) {
  // Not the time: two threads may write the same file within a tick.
  static std::atomic<std::uint64_t> written{0};
  temporary_ = path_;
  temporary_ += L"." + std::to_wstring(::GetCurrentProcessId()) + L"." + std::to_wstring(++written) + L".tmp";
  HANDLE handle = ::CreateFileW(temporary_.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                                FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    temporary_.clear();
    refuse("cannot write beside", path_);
  }
  handle_ = reinterpret_cast<std::intptr_t>(handle);
}

AtomicWriter::~AtomicWriter() {
  if (handle_ != 0) ::CloseHandle(as_handle(handle_));
  if (!temporary_.empty()) ::DeleteFileW(temporary_.c_str());
}

void AtomicWriter::append(std::span<const std::byte> bytes) {
  constexpr std::size_t most = std::size_t{1} << 30U;
  while (!bytes.empty()) {
    const DWORD want = static_cast<DWORD>(bytes.size() < most ? bytes.size() : most);
    DWORD written = 0;
    if (::WriteFile(as_handle(handle_), bytes.data(), want, &written, nullptr) == 0)
      refuse("cannot write", path_);
    bytes = bytes.subspan(written);
    size_ += written;
  }
}

void AtomicWriter::commit() {
  if (::FlushFileBuffers(as_handle(handle_)) == 0) refuse("cannot sync", path_);
  ::CloseHandle(as_handle(std::exchange(handle_, 0)));
  if (::MoveFileExW(temporary_.c_str(), path_.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ==
      0) {
    refuse("cannot replace", path_);
  }
  temporary_.clear();
}

}  // namespace pincite::file

#endif
