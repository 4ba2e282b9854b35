// An in-memory store that drives a Publisher as the daemon does, and remembers every generation's
// truth, so that whatever a reader says can be judged.
#pragma once

#include <gtest/gtest.h>
#include <iceblink/identifier.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shm/publisher.h"

namespace iceblink::shm::testing {

/// A runtime directory that is gone again at the end of the test. On a tmpfs where there is one.
class TempDir {
 public:
  TempDir() {
    std::string path = std::filesystem::exists("/dev/shm") ? "/dev/shm/iceblink-test-XXXXXX"
                                                           : "/tmp/iceblink-test-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) std::abort();
    path_ = path;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Namespace levels(std::initializer_list<const char*> names) {
  return {names.begin(), names.end()};
}
inline TableIdent table(const Namespace& ns, std::string name) {
  return {ns, std::move(name)};
}

/// The catalog as maps, its publisher, and commits.
class MemoryStore : public CatalogSource {
 public:
  struct Row {
    RecordKind kind;
    std::string location;
    std::uint64_t generation;
    Id fingerprint{};
  };
  using State = std::map<std::string, Row>;  // encoded key -> row; namespaces sort first

  [[nodiscard]] std::uint64_t generation() const override { return generation_; }
  [[nodiscard]] Status for_each(const std::function<Status(const Change&)>& visit) const override {
    for (const bool namespaces : {true, false}) {
      for (const auto& [key, row] : rows_) {
        if ((row.kind == RecordKind::kNamespace) != namespaces) continue;
        ICEBLINK_RETURN_IF_ERROR(visit({.kind = row.kind,
                                        .key = key,
                                        .location = row.location,
                                        .metadata_fingerprint = row.fingerprint,
                                        .generation = row.generation}));
      }
    }
    return Ok{};
  }

  PublisherOptions options;

  [[nodiscard]] Status start(const std::string& runtime_dir) {
    publisher_.reset();  // lets go of the lock
    options.runtime_dir = runtime_dir;
    options.store_uuid[0] = 7;
    options.hash_seed = 0x1234;
    options.daemon_version = "test";
    ICEBLINK_ASSIGN_OR_RETURN(publisher_, Publisher::open(options));
    if (const auto seen = publisher_->adopted_generation(); seen && *seen > generation_) {
      generation_ = *seen + 1;
    }
    return publisher_->start(*this, 1);
  }

  void put(const std::string& key, RecordKind kind, std::string location = "",
           Id fingerprint = {}) {
    staged_.push_back({key, {kind, std::move(location), 0, fingerprint}});
  }
  void put_namespace(const Namespace& ns) { put(encode(ns), RecordKind::kNamespace); }
  void put_table(const TableIdent& ident, std::string location, Id fingerprint = {}) {
    put(encode(ident), RecordKind::kTable, std::move(location), fingerprint);
  }
  void drop_table(const TableIdent& ident) { put(encode(ident), RecordKind::kTombstone); }
  void drop_namespace(const Namespace& ns) { put(encode(ns), RecordKind::kNamespaceTombstone); }

  /// A row that is there before start().
  void seed(const std::string& key, RecordKind kind, std::string location) {
    rows_[key] = {kind, std::move(location), generation_, {}};
  }

  /// Reserves, commits what was staged to the maps, publishes.
  [[nodiscard]] Status commit() {
    std::vector<Change> changes;
    for (const auto& [key, row] : staged_) {
      changes.push_back({.kind = row.kind,
                         .key = key,
                         .location = row.location,
                         .metadata_fingerprint = row.fingerprint});
    }
    if (auto reserved = publisher_->reserve(changes); !reserved) {
      staged_.clear();
      return reserved;
    }
    ++generation_;
    for (auto& [key, row] : staged_) {
      row.generation = generation_;
      if (is_tombstone(row.kind)) {
        rows_.erase(key);
      } else {
        rows_[key] = row;
      }
    }
    publisher_->publish(generation_, changes);
    staged_.clear();
    return Ok{};
  }

  [[nodiscard]] Publisher& publisher() { return *publisher_; }
  void stop() { publisher_.reset(); }
  [[nodiscard]] const State& rows() const { return rows_; }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

 private:
  std::uint64_t generation_ = 1;
  State rows_;
  std::vector<std::pair<std::string, Row>> staged_;
  std::unique_ptr<Publisher> publisher_;
};

}  // namespace iceblink::shm::testing

/// Fails with the error's message.
#define ASSERT_OK(expression)                                     \
  do {                                                            \
    const auto& result_of_ = (expression);                        \
    ASSERT_TRUE(result_of_.ok()) << result_of_.error().message(); \
  } while (false)
