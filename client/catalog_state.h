// What a Catalog's copies share.
//
// Thread safety: constant after construction, or safe by itself.
#pragma once

#include <iceblink/catalog.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/daemon_client.h"
#include "client/lookup.h"
#include "client/metadata_cache.h"
#include "client/second_opinion.h"
#include "client/table_cache.h"
#include "shm/segment.h"

namespace iceblink {

class Catalog::State {
 public:
  State(std::unique_ptr<shm::Segment> attached, std::shared_ptr<client::FileReader> reader,
        std::unique_ptr<client::MetadataCache> cache, const CatalogOptions& opened_with)
      : options(opened_with),
        segment(std::move(attached)),
        files(std::move(reader)),
        metadata(std::move(cache)),
        tables(options, files),
        daemon(segment->runtime_dir() + "/" + shm::kSocketName),
        second_opinion(options) {}

  /// Existence of a table or view. `Key`: TableIdent or PreparedKey. The segment comes apart from
  /// the state, which a lookup that hits does not touch.
  template <typename Key>
  [[nodiscard]] static Result<bool> exists(shm::Segment& segment, State& state, const Key& key,
                                           shm::RecordKind wanted) noexcept;
  /// What exists() does about a name that was not found.
  template <typename Key>
  [[nodiscard]] static Result<bool> exists_otherwise(State& state, const Key& key,
                                                     shm::RecordKind wanted, shm::FindStatus miss,
                                                     std::uint64_t heartbeat_ns) noexcept;
  template <typename Key>
  [[nodiscard]] static Result<std::string> resolve(shm::Segment& segment, State& state,
                                                   const Key& key) noexcept;

  /// The parsed metadata of a table or view. `T`: TableMetadata or ViewMetadata.
  template <typename T, typename Key>
  [[nodiscard]] static Result<std::shared_ptr<const T>> resolve_document(shm::Segment& segment,
                                                                         State& state,
                                                                         const Key& key) noexcept;
  /// A document, and what it was resolved by.
  struct Resolved {
    client::Value document;               // a TableMetadata or ViewMetadata
    std::optional<client::TableKey> key;  // of the record; none: the daemon told `location`
    std::string location;
    std::uint64_t generation = 0;
  };
  /// What resolve_document() does when the cache does not have it.
  template <typename Key>
  [[nodiscard]] Result<Resolved> load_document(const Key& key, shm::RecordKind wanted);
  /// The same for a name that the segment does not have. No document: it has it by now.
  [[nodiscard]] Result<Resolved> load_absent(const TableIdent& ident, shm::RecordKind wanted,
                                             std::uint64_t heartbeat_ns);
  /// The handle of a table.
  template <typename Key>
  [[nodiscard]] static Result<std::shared_ptr<const Table>> load_table(shm::Segment& segment,
                                                                       State& state,
                                                                       const Key& key) noexcept;
  /// What load_table() does when the cache does not have it.
  template <typename Key>
  [[nodiscard]] Result<std::shared_ptr<const Table>> make_table(const Key& key);
  template <typename Key>
  [[nodiscard]] std::shared_ptr<const Table> find_kept_table(const Key& key);
  /// Asks whether the object at this path exists: HEAD, counted. No answer means false.
  [[nodiscard]] bool daemon_knows(const std::string& path) noexcept;
  /// The location of a table that the segment does not have; kNotFound where the daemon knows
  /// none, too, or is not to be asked.
  [[nodiscard]] Result<std::string> resolve_absent(const TableIdent& ident,
                                                   std::uint64_t heartbeat_ns);
  [[nodiscard]] Result<std::string> ask_location(const TableIdent& ident);

  /// A request that changes something; the generation it became.
  [[nodiscard]] Result<std::uint64_t> write(const client::Request& request);
  [[nodiscard]] Result<std::uint64_t> write(const Batch& batch);
  /// A batch of one line, whose errors do not speak of lines.
  [[nodiscard]] Result<std::uint64_t> write_one(const Batch& batch);

  [[nodiscard]] Result<Changes> changes_from_log(const ChangeToken& token);

  const CatalogOptions options;
  const std::unique_ptr<shm::Segment> segment;
  const std::shared_ptr<client::FileReader> files;
  const std::unique_ptr<client::MetadataCache> metadata;
  client::TableCache tables;
  client::DaemonClient daemon;
  client::SecondOpinion second_opinion;

  // relaxed: counts, for showing
  std::atomic<std::uint64_t> ask_count{0};
  std::atomic<std::uint64_t> ask_failure_count{0};
  std::atomic<std::uint64_t> disagreement_count{0};
};

}  // namespace iceblink
