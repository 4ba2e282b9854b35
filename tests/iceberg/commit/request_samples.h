// Bodies of requests to be changed a member at a time, and what their parsers say of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "iceberg/commit/commit_request.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {

inline const std::string kSnapshotText = snapshot("7").text();
inline const std::string kSchemaText = schema(field(1, "x").text(), 4).text();
inline const std::string kViewVersionText =
    R"({"version-id":2,"schema-id":-1,"timestamp-ms":1700000000000,"summary":{"engine":"e"},)"
    R"("representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}],)"
    R"("default-namespace":["a"]})";

/// A commit of these updates, or of these requirements.
inline std::string updates(const std::string& elements) {
  return R"({"requirements":[],"updates":[)" + elements + "]}";
}
inline std::string requirements(const std::string& elements) {
  return R"({"updates":[],"requirements":[)" + elements + "]}";
}

/// "accepted", or the error's kind and message.
template <typename T>
std::string outcome_of(const Result<T>& parsed) {
  if (parsed) return "accepted";
  return std::string(to_string(parsed.error().kind())) + ": " + parsed.error().message();
}
inline std::string table_commit(std::string_view body) {
  return outcome_of(parse_table_commit(body));
}
inline std::string view_commit(std::string_view body) {
  return outcome_of(parse_view_commit(body));
}
inline std::string transaction(std::string_view body) {
  return outcome_of(parse_transaction(body));
}
inline std::string table_creation(std::string_view body) {
  return outcome_of(parse_table_creation(body));
}
inline std::string view_creation(std::string_view body) {
  return outcome_of(parse_view_creation(body));
}

/// A request that is in order; it lives while the test runs.
template <typename T>
const T& accepted(const Result<std::shared_ptr<const T>>& parsed) {
  static std::vector<std::shared_ptr<const T>> kept;
  EXPECT_EQ(outcome_of(parsed), "accepted");
  kept.push_back(parsed ? *parsed : std::make_shared<const T>());
  return *kept.back();
}

/// The one update, or requirement, of a body, as its type.
template <typename Update>
Update only_update(const std::string& element) {
  const auto& request = accepted(parse_table_commit(updates(element)));
  EXPECT_EQ(request.commit.updates.size(), 1U);
  const auto* const update =
      request.commit.updates.empty() ? nullptr : std::get_if<Update>(&request.commit.updates[0]);
  EXPECT_NE(update, nullptr) << element;
  return update == nullptr ? Update{} : *update;
}
template <typename OfType>
OfType only_requirement(const std::string& element) {
  const auto& request = accepted(parse_table_commit(requirements(element)));
  EXPECT_EQ(request.commit.requirements.size(), 1U);
  const auto* const requirement = request.commit.requirements.empty()
                                      ? nullptr
                                      : std::get_if<OfType>(&request.commit.requirements[0]);
  EXPECT_NE(requirement, nullptr) << element;
  return requirement == nullptr ? OfType{} : *requirement;
}

/// Whether a member that is required is missed, of whatever it is not, and twice. `parsed` says
/// what becomes of the object; `path` leads to it, with a dot.
template <typename Parsed>
void expect_required(const Document& object, const std::string& member, const std::string& path,
                     Parsed parsed) {
  using ::testing::StartsWith;
  const std::string begin = "invalid_argument: " + path + member + ": ";
  EXPECT_EQ(parsed(object), "accepted") << object.text();
  EXPECT_EQ(parsed(object.without(member)), begin + "is missing");
  EXPECT_THAT(parsed(object.with(member, "true")), StartsWith(begin + "expected a"));
  EXPECT_THAT(parsed(object.with(member, "null")), StartsWith(begin)) << object.text();
  EXPECT_EQ(parsed(object.with_another(member, "0")), begin + "occurs twice");
}

}  // namespace iceblink::iceberg::testing
