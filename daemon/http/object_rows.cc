// The store's rows, page by page: what its readers are compared with.
#include <array>
#include <charconv>
#include <cstdio>

#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/resources.h"
#include "iceberg/hex.h"
#include "shm/control_page.h"

namespace iceblink::daemon::http {
namespace {

using iceberg::from_hex;
using iceberg::to_hex;
using shm::RecordKind;
using Going = Store::Reading::Going;

constexpr std::size_t kObjectsMax = 10'000;
/// A page ends with the object that reaches it.
constexpr std::size_t kBodyBytesEnough = std::size_t{4} << 20;

/// A page's order, and each kind's letter in a cursor.
struct Kind {
  RecordKind kind;
  char letter;
  std::string_view name;
};
constexpr std::array<Kind, 3> kKinds = {{{RecordKind::kNamespace, 'n', "namespace"},
                                         {RecordKind::kTable, 't', "table"},
                                         {RecordKind::kView, 'v', "view"}}};

/// The last object that was given: its kind and, in hexadecimal, its key.
struct Cursor {
  std::size_t kind_index = 0;
  std::string after;
};

std::string to_text(const Cursor& cursor) {
  return kKinds[cursor.kind_index].letter + to_hex(cursor.after);
}

Result<Cursor> cursor_of(const Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto text, exchange.query("after"));
  Cursor cursor;
  if (!text) return cursor;
  while (cursor.kind_index < kKinds.size() &&
         !text->starts_with(kKinds[cursor.kind_index].letter)) {
    ++cursor.kind_index;
  }
  const auto key = text->size() > 1 ? from_hex(std::string_view(*text).substr(1)) : std::nullopt;
  if (cursor.kind_index == kKinds.size() || !key || key->size() > kEncodedIdentifierBytesMax) {
    return {ErrorKind::kInvalidArgument,
            "after '" + text->substr(0, 120) + "' was not given by this listing"};
  }
  cursor.after = *key;
  return cursor;
}

Result<std::size_t> limit_of(const Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto text, exchange.query("limit"));
  if (!text) return kObjectsMax;
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc{} || end != text->data() + text->size() || limit == 0 ||
      limit > kObjectsMax) {
    return {ErrorKind::kInvalidArgument,
            "limit '" + *text + "' is not a number from 1 to " + std::to_string(kObjectsMax)};
  }
  return limit;
}

bool is_known(const shm::Id& id) noexcept {
  return id != shm::Id{};
}

void append_pointer(std::string& body, const shm::Change& row) {
  body += R"(,"metadata-location":)";
  append_json_string(body, row.location);
  if (is_known(row.table_uuid)) {
    body += R"(,"table-uuid":")" + shm::to_string(row.table_uuid) + '"';
  }
  if (is_known(row.metadata_fingerprint)) {
    const auto& bytes = row.metadata_fingerprint;
    body += R"(,"metadata-fingerprint":")" +
            to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) + '"';
  }
  if (row.format_version != 0) {
    body += R"(,"format-version":)" + std::to_string(row.format_version);
  }
}

Status append_object(std::string& body, const Kind& kind, const shm::Change& row) {
  body += R"({"kind":")";
  body += kind.name;
  body += R"(","namespace":)";
  if (kind.kind == RecordKind::kNamespace) {
    ICEBLINK_ASSIGN_OR_RETURN(const Namespace levels, decode_namespace(row.key));
    append_json_levels(body, levels);
  } else {
    ICEBLINK_ASSIGN_OR_RETURN(const TableIdent ident, decode_table(row.key));
    append_json_levels(body, ident.levels);
    body += R"(,"name":)";
    append_json_string(body, ident.name);
    append_pointer(body, row);
  }
  body += R"(,"generation":)" + std::to_string(row.generation) + '}';
  return Ok{};
}

/// Appends the page's objects. Where the next one begins; nothing at the end.
Result<std::optional<Cursor>> append_objects(std::string& body, const Store::Reading& reading,
                                             Cursor cursor, std::size_t limit) {
  std::size_t count = 0;
  bool is_full = false;
  for (std::size_t i = cursor.kind_index; i < kKinds.size() && !is_full; ++i) {
    const std::string after = i == cursor.kind_index ? cursor.after : std::string();
    const auto append = [&](const shm::Change& row) -> Result<Going> {
      if (count == limit || body.size() >= kBodyBytesEnough) {
        is_full = true;
        return Going::kEnough;
      }
      if (count++ > 0) body += ',';
      cursor = {i, std::string(row.key)};
      ICEBLINK_RETURN_IF_ERROR(append_object(body, kKinds[i], row));
      return Going::kOn;
    };
    ICEBLINK_RETURN_IF_ERROR(reading.visit_rows(kKinds[i].kind, after, append));
  }
  return is_full ? std::optional(cursor) : std::nullopt;
}

Result<std::string> objects_body(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(Cursor cursor, cursor_of(exchange));
  ICEBLINK_ASSIGN_OR_RETURN(const std::size_t limit, limit_of(exchange));
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  std::array<char, 17> incarnation{};
  std::snprintf(incarnation.data(), incarnation.size(), "%016llx",
                static_cast<unsigned long long>(exchange.services().store.incarnation()));
  std::string body = R"({"generation":)" + std::to_string(reading->generation()) +
                     R"(,"incarnation":")" + incarnation.data() + R"(","objects":[)";
  ICEBLINK_ASSIGN_OR_RETURN(const auto next,
                            append_objects(body, *reading, std::move(cursor), limit));
  body += next ? R"(],"next":")" + to_text(*next) + "\"}" : R"(],"next":null})";
  return body;
}

}  // namespace

void list_object_rows(const ExchangePtr& exchange) {
  exchange->on_file_thread([exchange] {
    auto body = objects_body(*exchange);
    exchange->answer(body ? json_response(std::move(*body)) : error_response(body.error()));
  });
}

}  // namespace iceblink::daemon::http
