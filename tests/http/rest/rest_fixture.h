// A catalog to create things in, with short words for the requests of the Iceberg REST protocol.
//
// After every test: each metadata file on disk is valid, each table and view is answered as its
// file says, and no file is there that no answer has named.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/http/rest/client_commits.h"
#include "tests/http/rest/rest_values.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {

/// An answer that is an error of this status, type, and message.
MATCHER_P3(IsError, status, type, message, "is the error " + std::to_string(status)) {
  if (arg.status != status) {
    *result_listener << "whose status is " << arg.status << ": " << arg.body;
    return false;
  }
  *result_listener << "which says " << arg.body;
  return ::testing::ExplainMatchResult(::testing::StrEq(type), arg.error_type(), result_listener) &&
         ::testing::ExplainMatchResult(message, arg.error_message(), result_listener);
}
MATCHER_P(HasStatus, status, "has the status " + std::to_string(status)) {
  *result_listener << "whose status is " << arg.status << ": " << arg.body;
  return arg.status == status;
}

class RestTest : public DaemonTest {
 protected:
  void SetUp() override;
  void TearDown() override;
  /// Of the daemon: a warehouse in the scratch directory, and nothing is written elsewhere.
  [[nodiscard]] daemon::Settings settings() const;

  [[nodiscard]] std::string warehouse() const { return scratch().path() + "/warehouse"; }

  // ---- Requests. Targets are those behind /v1/namespaces.

  HttpResponse send(const HttpRequest& request);
  HttpResponse get(const std::string& target);
  HttpResponse head(const std::string& target);
  HttpResponse del(const std::string& target);
  HttpResponse post(const std::string& target, const Value& body);
  /// With an Idempotency-Key.
  HttpResponse post_once(const std::string& key, const std::string& target, const Value& body);
  HttpResponse transact(const Array& table_changes);
  /// `kind`: "tables" or "views".
  HttpResponse rename(const std::string& kind, const Object& from, const Object& to);

  // ---- In the namespace `ns`, which exists.

  [[nodiscard]] static std::string table(const std::string& name) { return "/ns/tables/" + name; }
  [[nodiscard]] static std::string view(const std::string& name) { return "/ns/views/" + name; }
  [[nodiscard]] static Object in_ns(std::string_view name);
  /// A creation's body.
  [[nodiscard]] static Object named(std::string_view name, Object schema = id_and_data());
  HttpResponse create(const Value& body) { return post("/ns/tables", body); }
  HttpResponse create_view(const Value& body) { return post("/ns/views", body); }
  HttpResponse commit(const std::string& name, const Commit& commit) {
    return post(table(name), commit.body());
  }
  HttpResponse commit_view(const std::string& name, const Commit& commit) {
    return post(view(name), commit.body());
  }

  // ---- Those that fail the test when they are refused; they give the metadata.

  Value create_table(const std::string& name, Object schema = id_and_data());
  Value stage(Object body);
  Value create_sql_view(const std::string& name);
  Value commit_to(const std::string& name, const Commit& commit);
  Value commit_to_view(const std::string& name, const Commit& commit);
  Value load(const std::string& name) { return metadata_at(table(name)); }
  Value load_view(const std::string& name) { return metadata_at(view(name)); }
  Value metadata_at(const std::string& target);
  /// Of the table, or view.
  std::string metadata_location(const std::string& target);
  [[nodiscard]] std::vector<std::string> names_of(const std::string& listing);
  [[nodiscard]] std::vector<std::string> namespaces(const std::string& query = "");

  // ---- Files.

  /// The metadata files below `directory`, in order.
  [[nodiscard]] static std::vector<std::string> files_below(const std::string& directory);
  [[nodiscard]] std::vector<std::string> files() const { return files_below(warehouse()); }
  [[nodiscard]] static bool is_there(const std::string& path) {
    return std::filesystem::exists(path);
  }
  /// A file that the daemon was not told to write.
  void put_there(const std::string& path, const std::string& bytes);
  /// Waits until it is gone; fails the test when it stays.
  static void expect_to_go(const std::string& path);
  /// One of the checks after each test.
  void check_files();

 private:
  void note_files_of(const HttpResponse& answer);
  void check_catalog();
  void check_namespace(const std::string& encoded);
  void check_object(const std::string& target);

  std::mutex mutex_;
  std::set<std::string> named_files_;  // guarded by mutex_
};

/// Of the elements of `list`: their `member`, which is a whole number.
[[nodiscard]] std::vector<std::int64_t> ids_of(const Value& list, std::string_view member);
[[nodiscard]] std::vector<std::string> column_names(const Value& schema);
[[nodiscard]] std::string text_of(const Value& value);
[[nodiscard]] std::string property(const Value& metadata, std::string_view key);

}  // namespace iceblink::test
