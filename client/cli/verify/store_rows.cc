#include "client/cli/verify/store_rows.h"

#include <iceblink/identifier.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>

#include "client/wire.h"
#include "iceberg/uuid.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kPageTimeout{30};

std::string text_member(const json::object& object, std::string_view name) {
  const json::value* const found = object.if_contains(name);
  return found == nullptr ? std::string() : std::string(found->as_string());
}

shm::Id uuid_member(const json::object& object) {
  const auto uuid = iceberg::parse_uuid(text_member(object, "table-uuid"));
  return uuid.value_or(shm::Id{});
}

shm::Id fingerprint_member(const json::object& object) {
  std::string text = text_member(object, "metadata-fingerprint");
  if (text.size() != 32) return {};
  for (const std::size_t at : {8, 13, 18, 23}) text.insert(at, "-");
  return iceberg::parse_uuid(text).value_or(shm::Id{});  // as many digits
}

/// Throws what boost::json does where members are not what they should be.
StoreRow row_of(const json::object& object) {
  StoreRow row;
  Namespace levels;
  for (const json::value& level : object.at("namespace").as_array()) {
    levels.emplace_back(level.as_string());
  }
  row.generation = object.at("generation").to_number<std::uint64_t>();
  const std::string kind = text_member(object, "kind");
  if (kind == "namespace") {
    row.kind = shm::RecordKind::kNamespace;
    row.key = encode(levels);
    return row;
  }
  row.kind = kind == "view" ? shm::RecordKind::kView : shm::RecordKind::kTable;
  row.key = encode(TableIdent{std::move(levels), text_member(object, "name")});
  row.location = text_member(object, "metadata-location");
  row.table_uuid = uuid_member(object);
  row.metadata_fingerprint = fingerprint_member(object);
  const json::value* const version = object.if_contains("format-version");
  if (version != nullptr) row.format_version = version->to_number<std::uint8_t>();
  return row;
}

StorePage page_of(const json::object& object) {
  StorePage page;
  page.generation = object.at("generation").to_number<std::uint64_t>();
  page.incarnation = text_member(object, "incarnation");
  for (const json::value& row : object.at("objects").as_array()) {
    page.rows.push_back(row_of(row.as_object()));
  }
  const json::value& next = object.at("next");
  if (!next.is_null()) page.next = std::string(next.as_string());
  return page;
}

}  // namespace

Result<StorePage> fetch_store_page(client::DaemonClient& daemon,
                                   const std::optional<std::string>& after) {
  client::Request request{.method = "GET", .target = "/iceblink/v1/objects"};
  if (after) request.target += "?after=" + *after;
  ICEBLINK_ASSIGN_OR_RETURN(const client::Answer answer, daemon.call(request, kPageTimeout));
  if (answer.status == 404) {
    return {ErrorKind::kUnsupported, "the daemon is of a version that does not tell its rows"};
  }
  if (!client::is_success(answer)) return client::error_of(request, answer);
  try {
    return page_of(json::parse(answer.body).as_object());
  } catch (const std::exception& error) {
    return {ErrorKind::kInternal, "GET " + request.target + ": " + error.what()};
  }
}

}  // namespace iceblink::cli
