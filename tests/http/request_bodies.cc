#include "tests/http/request_bodies.h"

namespace iceblink::test {
namespace {

constexpr char kSchema[] =
    R"({"type":"struct","fields":[{"id":3,"name":"id","type":"long","required":true},)"
    R"({"id":4,"name":"data","type":"string","required":false}]})";

}  // namespace

std::string table_creation(const std::string& name, const std::string& more) {
  return R"({"name":")" + name + R"(","schema":)" + kSchema + more + "}";
}

std::string view_creation(const std::string& name, const std::string& more) {
  return R"({"name":")" + name + R"(","schema":)" + kSchema +
         R"(,"view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,)"
         R"("summary":{},"default-namespace":["ns"],)"
         R"("representations":[{"type":"sql","sql":"select 1","dialect":"spark"}]},)"
         R"("properties":{})" +
         more + "}";
}

std::string commit(const std::string& updates, const std::string& requirements) {
  return R"({"requirements":[)" + requirements + R"(],"updates":[)" + updates + "]}";
}

std::string set_property(const std::string& key, const std::string& value) {
  return R"({"action":"set-properties","updates":{")" + key + R"(":")" + value + R"("}})";
}

std::string append_snapshot(std::int64_t id, std::int64_t sequence_number, std::int64_t parent_id) {
  const std::string parent =
      parent_id == 0 ? "" : R"(,"parent-snapshot-id":)" + std::to_string(parent_id);
  return R"({"action":"add-snapshot","snapshot":{"snapshot-id":)" + std::to_string(id) + parent +
         R"(,"sequence-number":)" + std::to_string(sequence_number) +
         R"(,"timestamp-ms":4000000000000,"manifest-list":"/none/)" + std::to_string(id) +
         R"(.avro","summary":{"operation":"append"},"schema-id":0}},)"
         R"({"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":)" +
         std::to_string(id) + "}";
}

std::string idempotency_key(unsigned number) {
  const std::string digits = std::to_string(100000 + number);
  return "Idempotency-Key: 017f22e2-79b0-7cc3-98c4-dc0c0c" + digits;
}

}  // namespace iceblink::test
