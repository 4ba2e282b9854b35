#include "tests/http/rest/rest_fixture.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

#include "iceberg/metadata_parser.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kWatchdog{20};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a level or a name is in a path (RFC 3986).
std::string encoded(std::string_view name) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

}  // namespace

void RestTest::SetUp() {
  start(settings());
  create_namespace(R"(["ns"])");
}

daemon::Settings RestTest::settings() const {
  auto made = settings_in(scratch());
  made.warehouse = warehouse();
  made.write_roots = {scratch().path()};
  return made;
}

void RestTest::TearDown() {
  if (HasFatalFailure()) return;
  check_catalog();
  check_files();
}

// ---- Requests.

HttpResponse RestTest::send(const HttpRequest& request) {
  auto answer = connect().request(request);
  note_files_of(answer);
  return answer;
}

HttpResponse RestTest::get(const std::string& target) {
  return send({.target = "/v1/namespaces" + target});
}
HttpResponse RestTest::head(const std::string& target) {
  return send({.verb = "HEAD", .target = "/v1/namespaces" + target});
}
HttpResponse RestTest::del(const std::string& target) {
  return send({.verb = "DELETE", .target = "/v1/namespaces" + target});
}
HttpResponse RestTest::post(const std::string& target, const Value& body) {
  return send(
      {.verb = "POST", .target = "/v1/namespaces" + target, .body = boost::json::serialize(body)});
}
HttpResponse RestTest::post_once(const std::string& key, const std::string& target,
                                 const Value& body) {
  return send({.verb = "POST",
               .target = "/v1/namespaces" + target,
               .body = boost::json::serialize(body),
               .headers = {"Idempotency-Key: " + key}});
}
HttpResponse RestTest::transact(const Array& table_changes) {
  Object body;
  body["table-changes"] = table_changes;
  return send(
      {.verb = "POST", .target = "/v1/transactions/commit", .body = boost::json::serialize(body)});
}
HttpResponse RestTest::rename(const std::string& kind, const Object& from, const Object& to) {
  Object body;
  body["source"] = from;
  body["destination"] = to;
  return send(
      {.verb = "POST", .target = "/v1/" + kind + "/rename", .body = boost::json::serialize(body)});
}

Object RestTest::in_ns(std::string_view name) {
  return {{"namespace", Array{"ns"}}, {"name", name}};
}

Object RestTest::named(std::string_view name, Object schema) {
  Object body;
  body["name"] = name;
  body["schema"] = std::move(schema);
  return body;
}

// ---- What must succeed.

Value RestTest::create_table(const std::string& name, Object schema) {
  const auto created = create(named(name, std::move(schema)));
  EXPECT_THAT(created, HasStatus(200));
  return created.status == 200 ? created.json().at("metadata") : Value();
}

Value RestTest::stage(Object body) {
  body["stage-create"] = true;
  const auto staged = create(body);
  EXPECT_THAT(staged, HasStatus(200));
  return staged.status == 200 ? staged.json().at("metadata") : Value();
}

Value RestTest::create_sql_view(const std::string& name) {
  const auto created =
      create_view(view_creation(name, Array{sql_of("spark", "select * from ns.tbl")}));
  EXPECT_THAT(created, HasStatus(200));
  return created.status == 200 ? created.json().at("metadata") : Value();
}

Value RestTest::commit_to(const std::string& name, const Commit& wanted) {
  const auto committed = commit(name, wanted);
  EXPECT_THAT(committed, HasStatus(200));
  return committed.status == 200 ? committed.json().at("metadata") : Value();
}

Value RestTest::commit_to_view(const std::string& name, const Commit& wanted) {
  const auto committed = commit_view(name, wanted);
  EXPECT_THAT(committed, HasStatus(200));
  return committed.status == 200 ? committed.json().at("metadata") : Value();
}

Value RestTest::metadata_at(const std::string& target) {
  const auto loaded = get(target);
  EXPECT_THAT(loaded, HasStatus(200));
  return loaded.status == 200 ? loaded.json().at("metadata") : Value();
}

std::string RestTest::metadata_location(const std::string& target) {
  const auto loaded = get(target);
  EXPECT_THAT(loaded, HasStatus(200));
  return loaded.status == 200 ? text_of(loaded.json().at("metadata-location")) : "";
}

std::vector<std::string> RestTest::names_of(const std::string& listing) {
  const auto listed = get(listing);
  EXPECT_THAT(listed, HasStatus(200));
  std::vector<std::string> names;
  if (listed.status != 200) return names;
  const auto body = listed.json();
  for (const auto& ident : body.at("identifiers").as_array()) {
    names.push_back(text_of(ident.at("name")));
  }
  return names;
}

std::vector<std::string> RestTest::namespaces(const std::string& query) {
  const auto listed = get(query);
  EXPECT_THAT(listed, HasStatus(200));
  std::vector<std::string> names;
  if (listed.status != 200) return names;
  const auto body = listed.json();
  for (const auto& levels : body.at("namespaces").as_array()) {
    std::string dotted;
    for (const auto& level : levels.as_array()) {
      dotted += (dotted.empty() ? "" : ".") + text_of(level);
    }
    names.push_back(dotted);
  }
  return names;
}

// ---- Files.

std::vector<std::string> RestTest::files_below(const std::string& directory) {
  std::vector<std::string> found;
  if (!std::filesystem::exists(directory)) return found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void RestTest::put_there(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  write_file(path, bytes);
  const std::lock_guard lock(mutex_);
  named_files_.insert(path);
}

void RestTest::expect_to_go(const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
  while (is_there(path) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_FALSE(is_there(path)) << path;
}

void RestTest::note_files_of(const HttpResponse& answer) {
  if (answer.status != 200 || !answer.body.starts_with('{')) return;
  const auto body = answer.json().as_object();
  const std::lock_guard lock(mutex_);
  if (const auto* const location = body.if_contains("metadata-location")) {
    if (location->is_string()) named_files_.insert(text_of(*location));
  }
  const auto* const metadata = body.if_contains("metadata");
  if (metadata == nullptr) return;
  const auto* const log = metadata->as_object().if_contains("metadata-log");
  if (log == nullptr) return;
  for (const auto& entry : log->as_array()) named_files_.insert(text_of(entry.at("metadata-file")));
}

// ---- After the test.

void RestTest::check_catalog() {
  for (const auto& name : namespaces()) check_namespace(encoded(name));
}

void RestTest::check_namespace(const std::string& path) {
  for (const auto& kind : {"tables", "views"}) {
    const auto listing = "/" + path + "/" + kind;
    for (const auto& name : names_of(listing)) check_object(listing + "/" + encoded(name));
  }
  const auto children = get("?parent=" + path).json();
  for (const auto& levels : children.at("namespaces").as_array()) {
    check_namespace(path + "%1F" + encoded(text_of(levels.as_array().back())));
  }
}

void RestTest::check_object(const std::string& target) {
  const auto loaded = get(target);
  if (loaded.status == 404) return;  // a test took its file away
  ASSERT_THAT(loaded, HasStatus(200)) << target;
  const auto path = text_of(loaded.json().at("metadata-location"));
  const auto bytes = bytes_of(path);
  if (bytes.starts_with("\x1f\x8b")) return;
  EXPECT_EQ(json_of(bytes), loaded.json().at("metadata")) << target;
}

void RestTest::check_files() {
  static const std::regex kName(
      R"([0-9]{5}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.gz)?\.metadata\.json)");
  for (const auto& path : files()) {
    EXPECT_TRUE(named_files_.contains(path)) << "no answer has named " << path;
    const auto name = path.substr(path.rfind('/') + 1);
    if (!name.ends_with(".metadata.json")) continue;
    EXPECT_TRUE(std::regex_match(name, kName)) << path;
    const auto problems = iceberg::check_metadata(iceberg::ByteBuffer(bytes_of(path)));
    ASSERT_TRUE(problems.ok()) << path;
    for (const auto& problem : *problems) {
      ADD_FAILURE() << path << ": " << problem.path << ": " << problem.what;
    }
  }
}

// ---- Values.

std::vector<std::int64_t> ids_of(const Value& list, std::string_view member) {
  std::vector<std::int64_t> ids;
  for (const auto& element : list.as_array()) ids.push_back(element.at(member).as_int64());
  return ids;
}

std::vector<std::string> column_names(const Value& schema) {
  std::vector<std::string> names;
  for (const auto& column : schema.at("fields").as_array()) {
    names.push_back(text_of(column.at("name")));
  }
  return names;
}

std::string text_of(const Value& value) {
  EXPECT_TRUE(value.is_string()) << boost::json::serialize(value);
  return value.is_string() ? std::string(value.as_string()) : "";
}

std::string property(const Value& metadata, std::string_view key) {
  const auto* const found = metadata.at("properties").as_object().if_contains(key);
  return found == nullptr ? "(none)" : text_of(*found);
}

}  // namespace iceblink::test
