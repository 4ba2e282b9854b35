// Where an import reads from: a folder, another catalog, lines of JSON.
//
// Thread safety: one thread, which need not be the one that made it, but for stop().
#pragma once

#include <iceblink/batch.h>
#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace iceblink::cli {

struct FoundNamespace {
  Namespace levels;
  Properties properties;
};

/// A table or a view.
struct FoundObject {
  ObjectKind kind = ObjectKind::kTable;
  TableIdent ident;
  std::string metadata_location;
  /// It was registered without its file where it comes from.
  bool is_unverified = false;
};

/// Something that is there and cannot be told: reported, counted, and passed over. The message
/// names it.
struct Unreadable {
  Error error;
};

using SourceItem = std::variant<FoundNamespace, FoundObject, Unreadable>;

/// About what it takes in memory.
[[nodiscard]] std::size_t bytes_of(const SourceItem& item) noexcept;

class Source {
 public:
  virtual ~Source() = default;

  /// The next one; nothing at the end. Names are as the source has them, not validated. An error
  /// ends the reading: the source as a whole cannot be read on.
  [[nodiscard]] virtual Result<std::optional<SourceItem>> next() = 0;
  /// From any thread: what is read from now on is not wanted. A next() that waits for others
  /// returns soon.
  virtual void stop() noexcept {}
  /// How many items there are, where that is known beforehand.
  [[nodiscard]] virtual std::optional<std::uint64_t> total() const { return std::nullopt; }
};

}  // namespace iceblink::cli
