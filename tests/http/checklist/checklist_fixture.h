// A table, and a view, that have some of everything, and what must not change where nothing was
// done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {

/// What a refused request must leave as it was.
struct CatalogState {
  std::uint64_t generation = 0;
  std::vector<std::string> files;

  friend bool operator==(const CatalogState&, const CatalogState&) = default;
};
void PrintTo(const CatalogState& state, std::ostream* out);

class ChecklistTest : public RestTest {
 protected:
  [[nodiscard]] CatalogState state();

  HttpResponse post_text(const std::string& target, const std::string& body) {
    return send({.verb = "POST", .target = "/v1/namespaces" + target, .body = body});
  }
  /// A commit of these updates, or of these requirements: the elements of a list.
  HttpResponse update(const std::string& target, const std::string& updates) {
    return post_text(target, R"({"requirements":[],"updates":[)" + updates + "]}");
  }
  HttpResponse require(const std::string& target, const std::string& requirements) {
    return post_text(target, R"({"updates":[],"requirements":[)" + requirements + "]}");
  }

  /// In `ns`: the columns `id` (1), `ts` (2), `s` (3) with `x` (4), and `note` (5), added later, in
  /// schema 1; a default spec 1 by day(ts), field 1000; sort order 1 by id; the snapshots 7 and 8,
  /// `main` at 8, the tag `v1` and the branch `b` at 7. Sequence numbers 1 and 2; in format 3 ten
  /// rows each.
  void create_rich_table(const std::string& name, int format_version = 2);
  /// Version 1 for spark and trino, of schema 0; version 2 for both, of schema 1, the current one.
  void create_rich_view(const std::string& name);
};

/// A snapshot's member values, for add-snapshot.
[[nodiscard]] std::string snapshot_text(std::int64_t id, std::int64_t sequence_number,
                                        const std::string& more = "");

/// Holds of every answer that is an error.
void expect_error_body(const HttpResponse& answer);

}  // namespace iceblink::test
