// The change feed: what happened after a generation.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/table_view.h>

#include <cstdint>
#include <string>
#include <vector>

namespace iceblink {

/// A place in the feed. `incarnation` tells a store from one restored from a backup, whose
/// generations mean something else; 0 is taken as "whichever there is".
struct ChangeToken {
  std::uint64_t generation = 0;
  std::uint64_t incarnation = 0;

  friend bool operator==(const ChangeToken&, const ChangeToken&) = default;
};

/// One name's change. A rename is a drop and a put of one generation.
struct TableChange {
  enum class Op : std::uint8_t { kPut, kDrop };

  std::uint64_t generation = 0;
  Op op = Op::kPut;
  ObjectKind kind = ObjectKind::kTable;
  Namespace levels;               // of the namespace itself, or of what holds the table
  std::string name;               // empty for a namespace
  std::string metadata_location;  // of a put table or view
};

struct Changes {
  ChangeToken token;                 ///< where to go on
  std::vector<TableChange> changes;  ///< oldest first; whole generations
};

}  // namespace iceblink
