// pincite_fuzz_seeds FOLDER: for each target that loads files, some that the library wrote.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pincite/bm25.hpp"
#include "pincite/envelope.hpp"
#include "pincite/flat.hpp"
#include "pincite/hnsw.hpp"
#include "small_vectors.hpp"

namespace {

using namespace pincite;
namespace fs = std::filesystem;

void write_envelopes(const fs::path& folder) {
  const std::vector<std::uint64_t> numbers = {1, 2, 3};
  const std::string text = "forty-two bytes";
  EnvelopeWriter("rows").write(folder / "none");
  EnvelopeWriter writer("rows", Stamp{7});
  writer.add("numbers", numbers);
  writer.add("number", std::span(numbers).first(1));
  writer.add("nothing", std::span<const char>());
  writer.add("text", std::span<const char>(text));
  writer.write(folder / "four");
}

void write_flat(const fs::path& folder) {
  for (const Storage storage : {Storage::float32, Storage::float16, Storage::int8}) {
    const std::string name(name_of(storage));
    FlatIndex::build(fuzz::small_vectors(), storage).save(folder / name);
    FlatIndex::build(fuzz::small_vectors(200, 2), storage).save(folder / (name + "-200"));
    FlatIndex::build(fuzz::small_vectors(0), storage).save(folder / (name + "-0"));
  }
}

void write_graphs(const fs::path& folder) {
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{40}, std::size_t{150}}) {
    const auto index = HnswIndex::build(fuzz::small_vectors(rows), {.m = 2, .ef_construction = 8});
    index.save(folder / ("whole-" + std::to_string(rows)));
    index.save_graph(folder / ("graph-" + std::to_string(rows)));
  }
}

const std::vector<std::string> few_texts = {"ship mast on the deck", "oil on oil, ships at sea", "",
                                            "sails and a mast \xE6\x95\xB0\xE6\x8D\xAE"};

// Each document has the texts in turn, one a field, from another one on.
void write_bm25(const fs::path& path, const std::vector<std::string>& texts, std::size_t n_fields,
                bool stemmed = false) {
  BM25Params params;
  params.fields.clear();
  for (std::size_t f = 0; f < n_fields; ++f)
    params.fields.push_back({"f" + std::to_string(f), 1.0 + static_cast<double>(f)});
  BM25Builder builder(params.analyzer, n_fields);
  for (std::size_t document = 0; document < texts.size(); ++document) {
    std::vector<std::string_view> fields;
    for (std::size_t f = 0; f < n_fields; ++f) fields.push_back(texts[(document + f) % texts.size()]);
    builder.add(fields);
  }
  std::vector<std::string> words;
  if (stemmed) {
    params.stemmer = "english";
    words = builder.words();
    for (std::string& word : words) {
      if (word.size() > 3 && word.back() == 's') word.pop_back();
    }
  }
  builder.finish(params, std::vector<std::string_view>(words.begin(), words.end())).save(path);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const fs::path place = arguments[1];
  const auto folder = [&](const char* target) {
    fs::create_directories(place / target);
    return place / target;
  };
  write_envelopes(folder("fuzz_file_envelope"));
  write_flat(folder("fuzz_file_flat"));
  write_graphs(folder("fuzz_file_hnsw"));
  const fs::path bm25 = folder("fuzz_file_bm25");
  write_bm25(bm25 / "none", {}, 1);
  write_bm25(bm25 / "one-field", few_texts, 1);
  write_bm25(bm25 / "stemmed", few_texts, 1, true);
  write_bm25(bm25 / "fields", few_texts, 3);
  write_bm25(bm25 / "long-words", {std::string(9000, 'a') + " mast " + std::string(3000, 'z')}, 1);
  const std::vector<std::string> frequent(256, "mast");  // as many postings as make a table
  write_bm25(bm25 / "frequent", frequent, 1);
  write_bm25(bm25 / "frequent-fields", frequent, 4);
  return 0;
}
