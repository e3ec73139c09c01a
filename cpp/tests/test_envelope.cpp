#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "pincite/envelope.hpp"
#include "pincite/error.hpp"

namespace {

namespace fs = std::filesystem;
using pincite::Envelope;
using pincite::EnvelopeWriter;

// A folder of its own, gone with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("pincite-test-" + std::to_string(counter_++))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  static inline int counter_ = 0;
  fs::path path_;
};

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void spill(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void write_sample(const fs::path& path) {
  const std::vector<std::uint32_t> numbers = {1, 2, 3};
  const std::vector<double> none;
  EnvelopeWriter writer("sample", pincite::Stamp{7});
  writer.add("numbers", numbers);
  writer.add("none", none);
  writer.write(path);
}

TEST_CASE("envelope: CRC-32C gives the values of RFC 3720, appendix B.4") {
  std::vector<std::byte> bytes(32);
  CHECK(pincite::crc32c(bytes) == 0x8A9136AAU);
  std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
  CHECK(pincite::crc32c(bytes) == 0x62A8AB43U);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  CHECK(pincite::crc32c(bytes) == 0x46DD794EU);
  const auto first = pincite::crc32c(std::span(bytes).first(13));
  CHECK(pincite::crc32c(std::span(bytes).subspan(13), first) == 0x46DD794EU);
}

TEST_CASE("envelope: what was written comes back, aligned") {
  const Folder folder;
  write_sample(folder / "a");
  const auto envelope = Envelope::open(folder / "a", "sample");
  CHECK(envelope->stamp() == pincite::Stamp{7});
  CHECK(envelope->names() == std::vector<std::string>{"numbers", "none"});
  const auto numbers = envelope->values<std::uint32_t>("numbers");
  CHECK(std::vector<std::uint32_t>(numbers.begin(), numbers.end()) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % 64 == 0);
  CHECK(envelope->values<double>("none").empty());
  CHECK_THROWS_AS((void)envelope->values<std::uint64_t>("numbers"), pincite::IndexCorruptError);
  CHECK_THROWS_AS((void)envelope->value<std::uint32_t>("numbers"), pincite::IndexCorruptError);
  CHECK_THROWS_AS((void)envelope->bytes("nothing"), pincite::IndexCorruptError);
  CHECK_THROWS_AS((void)Envelope::open(folder / "a", "other"), pincite::IncompatibleIndexError);
}

TEST_CASE("envelope: every cut and every flipped bit is noticed") {
  const Folder folder;
  write_sample(folder / "a");
  const std::string whole = slurp(folder / "a");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    spill(folder / "b", whole.substr(0, size));
    CHECK_THROWS_AS((void)Envelope::open(folder / "b", "sample"), pincite::IndexCorruptError);
  }
  // Padding between sections is the one place that nothing reads.
  const std::size_t table_end = 96 + 2 * 48;
  const auto covered = [&](std::size_t i) { return i < table_end || (i >= 192 && i < 204); };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (!covered(i)) continue;
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ (1U << bit));
      spill(folder / "b", damaged);
      CHECK_THROWS_AS((void)Envelope::open(folder / "b", "sample"), pincite::Error);
    }
  }
}

TEST_CASE("envelope: a write replaces the file and leaves nothing beside it") {
  const Folder folder;
  spill(folder / "a", "old");
  write_sample(folder / "a");
  CHECK(folder.files() == 1);
  (void)Envelope::open(folder / "a", "sample");
}

TEST_CASE("envelope: an open file outlives its replacement") {
  const Folder folder;
  write_sample(folder / "a");
  const auto envelope = Envelope::open(folder / "a", "sample");
  EnvelopeWriter("sample").write(folder / "a");
  CHECK(envelope->values<std::uint32_t>("numbers")[2] == 3);
}

TEST_CASE("envelope: what cannot be written or read says so and leaves nothing") {
  const Folder folder;
  const fs::path nowhere = folder / "no" / "such" / "folder";
  CHECK_THROWS_AS(write_sample(nowhere), pincite::StorageError);
  CHECK_THROWS_AS((void)Envelope::open(nowhere, "sample"), pincite::StorageError);
  CHECK_THROWS_AS((void)Envelope::open(folder / "", "sample"), pincite::StorageError);
  CHECK(folder.files() == 0);
}

TEST_CASE("envelope: names are checked where they are given") {
  EnvelopeWriter writer("sample");
  const std::vector<int> values = {1};
  writer.add("a", values);
  CHECK_THROWS_AS(writer.add("a", values), pincite::InvalidInputError);
  CHECK_THROWS_AS(writer.add("", values), pincite::InvalidInputError);
  CHECK_THROWS_AS(writer.add("a name that is far too long for it", values), pincite::InvalidInputError);
  CHECK_THROWS_AS(EnvelopeWriter("a kind that is too long"), pincite::InvalidInputError);
}

}  // namespace
