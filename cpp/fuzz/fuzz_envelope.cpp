// Arbitrary bytes opened as a flat index and searched: only our own errors may come out.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>

#include "pincite/error.hpp"
#include "pincite/flat.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("pincite_fuzz_" + std::to_string(std::random_device{}()));
  if (std::FILE* file = std::fopen(path.string().c_str(), "wb")) {
    std::fwrite(data, 1, size, file);
    std::fclose(file);
  }
  try {
    const pincite::FlatIndex index = pincite::FlatIndex::load(path, false);
    if (index.vectors().dim() > 65536) return 0;
    std::vector<float> query(index.vectors().dim());
    query[0] = 1.0F;
    (void)index.search(query, 3);
  } catch (const pincite::Error&) {  // what a damaged file is answered with
  }
  return 0;
}
