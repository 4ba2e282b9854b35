// From a request and the catalog as it is to files that are there and operations that make pointers
// of them: one attempt of a commit.
//
// Thread safety: a ChangeMaker is immutable; each attempt belongs to one thread, and blocks as long
// as the disk does.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/byte_budget.h"
#include "daemon/metadata_file.h"
#include "daemon/metrics.h"
#include "daemon/new_metadata_file.h"
#include "daemon/operation.h"
#include "daemon/store.h"
#include "daemon/write_roots.h"
#include "iceberg/commit/commit_request.h"

namespace iceblink::daemon {

/// One table or view, and what is to become of it.
struct MetadataChange {
  TableIdent ident;
  /// A creation, or a commit. Of a transaction: the request, and which of its changes.
  struct TransactionPart {
    std::shared_ptr<const iceberg::TransactionRequest> request;
    std::size_t index = 0;
  };
  std::variant<std::shared_ptr<const iceberg::TableCreationRequest>,
               std::shared_ptr<const iceberg::TableCommitRequest>, TransactionPart,
               std::shared_ptr<const iceberg::ViewCreationRequest>,
               std::shared_ptr<const iceberg::ViewCommitRequest>>
      what;
};

/// What a change led to: the pointer as it is now, and the text of its file.
struct ChangedMetadata {
  TableRow row;      // location empty: staged, there is no file
  std::string json;  // as it is answered; empty: one of several changes
};

/// One change, made on one base.
struct PreparedChange {
  ChangedMetadata changed;
  std::optional<TableRow> base;            // none: the name stood for nothing
  std::optional<Operation> operation;      // none: staged
  std::optional<NewMetadataFile> file;     // none: staged, or nothing has changed
  std::vector<std::string> old_files;      // locations to delete, once the pointer has moved
  std::optional<ByteBudget::Share> share;  // of the memory for all of it
};

[[nodiscard]] ObjectKind kind_of(const MetadataChange& change) noexcept;
/// Not a commit to what is there; a commit may still assert that nothing is.
[[nodiscard]] bool is_creation(const MetadataChange& change) noexcept;

/// What an attempt has made. Destroying it removes the files that were not kept.
struct PreparedChanges {
  std::vector<PreparedChange> changes;  // one for each change
  std::uint64_t generation = 0;         // of what was read
  std::size_t new_file_count = 0;       // written by this attempt

  [[nodiscard]] std::vector<Operation> operations() const;
  [[nodiscard]] std::size_t file_count() const noexcept;
};

/// Whether a refusal of the committer's only means that the catalog has changed since it was read:
/// then another attempt may succeed, or be refused for a reason.
[[nodiscard]] bool is_lost_race(const Refused& refused,
                                std::span<const MetadataChange> changes) noexcept;

class ChangeMaker {
 public:
  /// What is passed by reference outlives it. `warehouse`: where new tables go that name no
  /// location.
  ChangeMaker(Store& store, MetadataFileRules rules, const WriteRoots& roots, ByteBudget& budget,
              std::string warehouse, Metrics& metrics)
      : store_(store),
        rules_(std::move(rules)),
        roots_(roots),
        budget_(budget),
        warehouse_(std::move(warehouse)),
        metrics_(metrics) {}

  /// All of the changes, or a refusal, and no file is left. What `earlier`, an attempt that lost a
  /// race, has made on a base that still stands is kept. Throws std::bad_alloc.
  /// Once `is_cut_off` is set, the next step is not begun, and the refusal is kNoDaemon.
  [[nodiscard]] std::variant<PreparedChanges, Refused> prepare(
      std::span<const MetadataChange> changes, PreparedChanges earlier,
      const std::atomic<bool>& is_cut_off) const;

  /// Whether there is metadata of the same table or view at `location`: what is written into a
  /// metadata-log may be anything.
  [[nodiscard]] bool is_old_file_of(const TableRow& row, const std::string& location) const;

 private:
  struct Base;
  [[nodiscard]] Result<Base> read_base(const TableIdent& ident, ObjectKind kind) const;
  /// A change that is made, or why it is refused.
  using Outcome = std::variant<PreparedChange, Refused>;
  /// An attempt's: what it has seen, and whether it may go on.
  struct Attempt {
    std::uint64_t& generation;
    const std::atomic<bool>& is_cut_off;
  };
  [[nodiscard]] Outcome prepare_one(const MetadataChange& change, Base base,
                                    const Attempt& attempt) const;
  [[nodiscard]] Outcome create(const MetadataChange& change, const Base& base) const;
  [[nodiscard]] Outcome commit(const MetadataChange& change, Base base,
                               const Attempt& attempt) const;
  [[nodiscard]] static Outcome keep(const MetadataChange& change, TableRow row, std::string text);
  [[nodiscard]] Refused moved_meanwhile(const MetadataChange& change, const TableRow& row,
                                        const Error& error, std::uint64_t& generation) const;
  void measure(const NewMetadataFile& file) const;
  [[nodiscard]] static Refused unreadable(const TableRow& row, const Error& error);
  [[nodiscard]] Outcome add(const MetadataChange& change, const Base& base,
                            iceberg::NewMetadata metadata) const;

  Store& store_;
  const MetadataFileRules rules_;
  const WriteRoots& roots_;
  ByteBudget& budget_;
  const std::string warehouse_;
  Metrics& metrics_;
};

}  // namespace iceblink::daemon
