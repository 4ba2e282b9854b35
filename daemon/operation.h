// What a client may ask the catalog to change, as plain data.
#pragma once

#include <iceblink/identifier.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/store.h"

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

/// Sets a table's pointer. With `expect`, a compare-and-swap on the stored location of a table
/// that exists, whatever `if_exists` says.
struct RegisterTable {
  enum class IfExists : std::uint8_t { kFail, kOverwrite };

  TableIdent ident;
  TableRow row;  // generation is set by the commit
  IfExists if_exists = IfExists::kFail;
  std::optional<std::string> expect;
};

struct DropTable {
  TableIdent ident;
};

struct RenameTable {
  TableIdent from;
  TableIdent to;
};

using Operation = std::variant<CreateNamespace, DropNamespace, UpdateProperties, RegisterTable,
                               DropTable, RenameTable>;

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
};

/// A refused or failed operation list: nothing of it was done.
struct Refused {
  Refusal refusal = Refusal::kNone;
  Error error;
  std::size_t operation_index = 0;  // of the operation that was refused
};

}  // namespace iceblink::daemon
