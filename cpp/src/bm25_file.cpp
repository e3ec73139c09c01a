// The index as a file of kind "bm25", and what is checked before a byte of it is used as an index.
#include <cmath>
#include <string>

#include "bm25_data.hpp"
#include "pincite/envelope.hpp"
#include "pincite/error.hpp"
#include "pincite/utf8.hpp"

namespace pincite {
namespace {

constexpr std::string_view kind = "bm25";

struct Meta {
  std::uint64_t n_docs;
  std::uint32_t n_fields;
  std::uint32_t analyzer;
  double k1;
  double b;
};
static_assert(sizeof(Meta) == 32);

class Loader {
 public:
  Loader(const std::filesystem::path& path, bool verify) : file_(Envelope::open(path, kind, verify)) {}

  [[nodiscard]] std::shared_ptr<const bm25::Data> load() {
    read_params();
    read_sections();
    check_postings();
    data_->make_tables();
    data_->owners.push_back(file_);
    return data_;
  }

 private:
  void require(bool holds, std::string_view what) const {
    if (!holds) file_->refuse(std::string(what));
  }

  // Offsets ascend from 0 to `end`; there is one more than `count`.
  void require_offsets(std::span<const std::uint64_t> offsets, std::size_t count, std::size_t end,
                       std::string_view what) const {
    require(offsets.size() == count + 1 && offsets.front() == 0 && offsets.back() == end, what);
    for (std::size_t i = 0; i < count; ++i) require(offsets[i] <= offsets[i + 1], what);
  }

  [[nodiscard]] StringTable strings(const std::string& name, bool sorted) const {
    const std::string what = "section '" + name + "' is no table of strings";
    const auto bytes = file_->values<char>(name);
    const auto offsets = file_->values<std::uint64_t>(name + "_offsets");
    require(!offsets.empty(), what);
    require_offsets(offsets, offsets.size() - 1, bytes.size(), what);
    try {
      check_utf8({bytes.data(), bytes.size()});
    } catch (const InvalidInputError&) {
      require(false, what);
    }
    const StringTable table(bytes, offsets);
    for (std::size_t i = 0; i < table.size(); ++i) {
      const std::string_view s = table[i];
      require(s.empty() || (static_cast<unsigned char>(s[0]) & 0xC0U) != 0x80U, what);
      require(!sorted || i == 0 || table[i - 1] < s, what);
    }
    return table;
  }

  void read_params() {
    const Meta meta = file_->value<Meta>("meta");
    const StringTable names = strings("fields", false);
    const auto boosts = file_->values<double>("boosts");
    require(meta.analyzer <= 1, "the analyzer is unknown");
    require(meta.n_fields == boosts.size() && meta.n_fields == names.size(), "the fields do not add up");
    data_->n_docs = static_cast<std::size_t>(meta.n_docs);
    data_->n_fields = meta.n_fields;
    BM25Params& params = data_->params;
    params.analyzer = static_cast<Analyzer>(meta.analyzer);
    params.k1 = meta.k1;
    params.b = meta.b;
    params.fields.clear();
    for (std::size_t f = 0; f < names.size(); ++f)
      params.fields.push_back({std::string(names[f]), boosts[f]});
    const auto stemmer = file_->values<char>("stemmer");
    params.stemmer.assign(stemmer.begin(), stemmer.end());
    try {
      check_params(params);
      check_utf8(params.stemmer);
    } catch (const InvalidInputError& error) {
      require(false, error.what());
    }
  }

  void read_sections() {
    bm25::Data& d = *data_;
    d.lengths = file_->values<std::uint32_t>("lengths");
    require(d.lengths.size() % d.n_fields == 0 && d.lengths.size() / d.n_fields == d.n_docs &&
                d.n_docs < 0xFFFFFFFFU,
            "the lengths do not fit the number of documents");
    d.terms = strings("terms", true);
    require(d.terms.size() < 0xFFFFFFFFU, "there are more terms than can be numbered");
    if (d.stemmed()) {
      d.words = strings("words", true);
      d.terms_of_words = file_->values<std::uint32_t>("terms_of_words");
      require(d.terms_of_words.size() == d.words.size(), "the words do not fit their terms");
      for (const std::uint32_t term : d.terms_of_words)
        require(term < d.terms.size(), "a word has no such term");
    }
    d.ids = file_->values<std::uint32_t>("ids");
    d.tfs = file_->values<std::uint32_t>("tfs");
    d.positions = file_->values<std::uint32_t>("positions");
    d.frontier = file_->values<bm25::FrontierPoint>("frontier");
    d.posting_offsets = file_->values<std::uint64_t>("posting_offsets");
    d.position_offsets = file_->values<std::uint64_t>("position_offsets");
    d.frontier_offsets = file_->values<std::uint64_t>("frontier_offsets");
    require(d.tfs.size() % d.n_fields == 0 && d.tfs.size() / d.n_fields == d.ids.size(),
            "the frequencies do not fit the postings");
    require_offsets(d.posting_offsets, d.terms.size(), d.ids.size(), "the posting offsets are out of order");
    require_offsets(d.position_offsets, d.terms.size(), d.positions.size(),
                    "the position offsets are out of order");
    require_offsets(d.frontier_offsets, d.terms.size() * d.n_fields, d.frontier.size(),
                    "the frontier offsets are out of order");
    for (const bm25::FrontierPoint& point : d.frontier)
      require(point.tf <= point.length, "a term stands more often than its text is long");
  }

  // Ids ascend and exist; frequencies are within the lengths, and there is a position for each occurrence.
  void check_postings() const {
    const bm25::Data& d = *data_;
    for (std::size_t t = 0; t < d.terms.size(); ++t) {
      const bm25::Postings list = d.postings(t);
      std::uint64_t occurrences = 0;
      for (std::size_t i = 0; i < list.ids.size(); ++i) {
        require(list.ids[i] < d.n_docs && (i == 0 || list.ids[i - 1] < list.ids[i]),
                "the postings are out of order");
        std::uint64_t here = 0;
        for (std::size_t f = 0; f < d.n_fields; ++f) {
          const std::uint32_t tf = list.tfs[i * d.n_fields + f];
          require(tf <= d.lengths[list.ids[i] * d.n_fields + f],
                  "a term stands more often than its text is long");
          here += tf;
        }
        require(here > 0, "a posting is empty");
        occurrences += here;
      }
      require(occurrences == list.positions.size(), "the positions do not fit the frequencies");
    }
  }

  std::shared_ptr<const Envelope> file_;
  std::shared_ptr<bm25::Data> data_ = std::make_shared<bm25::Data>();
};

}  // namespace

void BM25Index::save(const std::filesystem::path& path) const {
  const bm25::Data& d = *data_;
  const Meta meta{d.n_docs, static_cast<std::uint32_t>(d.n_fields),
                  static_cast<std::uint32_t>(d.params.analyzer), d.params.k1, d.params.b};
  std::vector<double> boosts;
  std::string names;
  std::vector<std::uint64_t> name_offsets = {0};
  for (const BM25Field& field : d.params.fields) {
    boosts.push_back(field.boost);
    names += field.name;
    name_offsets.push_back(names.size());
  }
  EnvelopeWriter out(kind);
  out.add("meta", std::span(&meta, 1));
  out.add("fields", std::span<const char>(names));
  out.add("fields_offsets", name_offsets);
  out.add("boosts", boosts);
  out.add("stemmer", std::span<const char>(d.params.stemmer));
  out.add("lengths", d.lengths);
  out.add("terms", d.terms.bytes());
  out.add("terms_offsets", d.terms.offsets());
  if (d.stemmed()) {
    out.add("words", d.words.bytes());
    out.add("words_offsets", d.words.offsets());
    out.add("terms_of_words", d.terms_of_words);
  }
  out.add("posting_offsets", d.posting_offsets);
  out.add("ids", d.ids);
  out.add("tfs", d.tfs);
  out.add("position_offsets", d.position_offsets);
  out.add("positions", d.positions);
  out.add("frontier_offsets", d.frontier_offsets);
  out.add("frontier", d.frontier);
  out.write(path);
}

BM25Index BM25Index::load(const std::filesystem::path& path, bool verify) {
  return BM25Index(Loader(path, verify).load());
}

}  // namespace pincite
