// What a client may ask the catalog to change, as plain data.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/store.h"
#include "daemon/table_row.h"

namespace iceblink::daemon {

/// Names and values of one namespace's properties: a page of namespaces must stay a page.
inline constexpr std::size_t kPropertiesBytesMax = std::size_t{1} << 20;

struct CreateNamespace {
  Namespace levels;
  Properties properties;
};

struct DropNamespace {
  Namespace levels;
};

struct UpdateProperties {
  Namespace levels;
  std::vector<std::string> removals;
  Properties updates;
};

/// Sets the pointer of a table or view. With `expect` or `based_on`, a compare-and-swap on one that
/// exists, whatever `if_exists` says.
struct Register {
  enum class IfExists : std::uint8_t { kFail, kOverwrite };

  TableIdent ident;
  TableRow row;  // generation is set by the commit
  IfExists if_exists = IfExists::kFail;
  std::optional<std::string> expect;  // the stored location
  ObjectKind kind = ObjectKind::kTable;
  /// The whole row, its generation too: what the new metadata was made from. If it is another by
  /// now, the refusal is kStaleBase.
  std::optional<TableRow> based_on = {};
};

struct Drop {
  TableIdent ident;
  ObjectKind kind = ObjectKind::kTable;
  /// As in Register.
  std::optional<TableRow> based_on = {};
};

/// Changes nothing; refused with kStaleBase unless the pointer is that row.
struct CheckPointer {
  TableIdent ident;
  TableRow row;
  ObjectKind kind = ObjectKind::kTable;
};

/// To a name that neither a table nor a view has.
struct Rename {
  TableIdent from;
  TableIdent to;
  ObjectKind kind = ObjectKind::kTable;
};

using Operation = std::variant<CreateNamespace, DropNamespace, UpdateProperties, Register, Drop,
                               CheckPointer, Rename>;

struct PropertiesChange {
  std::vector<std::string> updated;
  std::vector<std::string> removed;
  std::vector<std::string> missing;
};

/// What a commit brought about.
struct Committed {
  std::uint64_t generation = 0;
  std::optional<PropertiesChange> properties;  // of the last UpdateProperties
};

/// Which exception of the Iceberg REST specification a refusal is.
enum class Refusal : std::uint8_t {
  kNone,
  kNoSuchNamespace,
  kNoSuchTable,
  kNoSuchView,
  kAlreadyExists,
  kNamespaceNotEmpty,
  kCommitFailed,
  kUnprocessable,
  kStaleBase,  // the pointer has moved since it was read; never leaves the daemon
};

/// A refused or failed operation list: nothing of it was done.
struct Refused {
  Refusal refusal = Refusal::kNone;
  Error error;
  std::size_t operation_index = 0;  // of the operation that was refused
  /// The newest state that it was judged by: it is answered once that is published. 0: the
  /// committer's, which answers after its publish.
  std::uint64_t generation = 0;
};

}  // namespace iceblink::daemon
