// The catalog that everything is measured on: made from numbers, so that every process has the
// same one without a file, and knows the right answer to each question.
//
// Tables 0 .. table_count-1, a hundred to a namespace of two levels. Lengths of names vary, as
// they do in life: a branch that a benchmark with equal lengths would predict is not predicted.
//
// Thread safety: a value; const functions.
#pragma once

#include <iceblink/identifier.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shm/change.h"

namespace iceblink::bench {

inline constexpr std::size_t kTablesPerNamespace = 100;

/// A step of splitmix64: a fixed permutation of numbers.
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

class SampleCatalog {
 public:
  explicit SampleCatalog(std::size_t table_count) : table_count_(table_count) {}

  [[nodiscard]] std::size_t table_count() const noexcept { return table_count_; }
  [[nodiscard]] std::size_t namespace_count() const noexcept {
    return (table_count_ + kTablesPerNamespace - 1) / kTablesPerNamespace;
  }
  /// The first levels, each once.
  [[nodiscard]] std::vector<Namespace> domains() const;
  [[nodiscard]] Namespace levels(std::size_t namespace_index) const;
  [[nodiscard]] TableIdent ident(std::size_t table_index) const;
  /// A name that stands in an existing namespace and does not exist.
  [[nodiscard]] TableIdent absent_ident(std::size_t table_index) const;
  /// Where the table's metadata stands after `version` moves of its pointer. Of one length.
  [[nodiscard]] std::string location(std::size_t table_index, std::size_t version) const;

 private:
  std::size_t table_count_;
};

/// The sample as a publisher reads it. Nothing is kept: rows are made while they are visited.
class SampleSource : public shm::CatalogSource {
 public:
  explicit SampleSource(SampleCatalog catalog) : catalog_(catalog) {}
  [[nodiscard]] std::uint64_t generation() const override { return 1; }
  [[nodiscard]] Status for_each(
      const std::function<Status(const shm::Change&)>& visit) const override;

 private:
  SampleCatalog catalog_;
};

/// A sequence of lookups with their answers: uniform random tables, a tenth of them absent.
struct Questions {
  std::vector<TableIdent> idents;
  std::vector<std::size_t> location_bytes;  // of the answer; 0: absent
};
[[nodiscard]] Questions make_questions(const SampleCatalog& catalog, std::size_t count,
                                       std::uint64_t seed);

}  // namespace iceblink::bench
