// Writes: their options, and many of them as one.
#pragma once

#include <iceblink/identifier.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace iceblink {

using Properties = std::map<std::string, std::string>;

struct RegisterOptions {
  /// What happens when the name is taken.
  enum class IfExists : std::uint8_t { kFail, kOverwrite };
  /// Whether the daemon reads the metadata file first, to check it and take its fingerprint.
  enum class Verification : std::uint8_t { kVerified, kUnverified };

  IfExists if_exists = IfExists::kFail;
  Verification verification = Verification::kVerified;
};

/// Operations that are applied all at once or not at all, as one generation: Catalog::apply.
/// A value; each call appends one operation. Nothing is checked here.
///
/// Throws std::bad_alloc like a string does: it is one.
class Batch {
 public:
  Batch& create_namespace(const Namespace& levels, const Properties& properties = {});
  Batch& drop_namespace(const Namespace& levels);
  Batch& register_table(const TableIdent& ident, std::string_view metadata_location,
                        RegisterOptions options = {});
  /// A compare-and-swap: the table must exist and point at `expected_location`.
  Batch& move_table(
      const TableIdent& ident, std::string_view expected_location, std::string_view new_location,
      RegisterOptions::Verification verification = RegisterOptions::Verification::kVerified);
  Batch& drop_table(const TableIdent& ident);
  Batch& rename_table(const TableIdent& from, const TableIdent& to);

  /// Lines in the form the daemon takes (POST /iceblink/v1/batch), as they are.
  Batch& append_json_lines(std::string_view lines);

  [[nodiscard]] const std::string& json_lines() const noexcept { return lines_; }
  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }

 private:
  std::string lines_;
};

}  // namespace iceblink
