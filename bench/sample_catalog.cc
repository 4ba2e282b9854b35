#include "bench/sample_catalog.h"

#include <array>
#include <cstdio>

namespace iceblink::bench {
namespace {

constexpr std::size_t kNamespacesPerDomain = 100;

constexpr std::array<const char*, 16> kTableWords = {"events",
                                                     "orders",
                                                     "page_views",
                                                     "users",
                                                     "inventory_items",
                                                     "tx",
                                                     "sessions",
                                                     "customer_lifetime_value",
                                                     "ads",
                                                     "shipments",
                                                     "invoices",
                                                     "metrics",
                                                     "clicks_hourly",
                                                     "experiment",
                                                     "refunds",
                                                     "dim_product_category"};
constexpr std::array<const char*, 8> kLevelWords = {"sales", "marketing", "web",     "finance",
                                                    "ops",   "risk",      "support", "ml_features"};

template <typename... Values>
std::string text(const char* format, Values... values) {
  std::array<char, 256> buffer;
  const int size = std::snprintf(buffer.data(), buffer.size(), format, values...);
  return {buffer.data(), static_cast<std::size_t>(size)};
}

std::string domain(std::size_t index) {
  return text("%s_%zu", kLevelWords[scramble(index) % kLevelWords.size()], index);
}

}  // namespace

std::vector<Namespace> SampleCatalog::domains() const {
  std::vector<Namespace> all;
  const std::size_t count = (namespace_count() + kNamespacesPerDomain - 1) / kNamespacesPerDomain;
  for (std::size_t i = 0; i < count; ++i) all.push_back({domain(i)});
  return all;
}

Namespace SampleCatalog::levels(std::size_t namespace_index) const {
  const std::uint64_t word = scramble(~namespace_index) % kLevelWords.size();
  return {domain(namespace_index / kNamespacesPerDomain),
          text("%s_%zu", kLevelWords[word], namespace_index)};
}

TableIdent SampleCatalog::ident(std::size_t table_index) const {
  const std::uint64_t word = scramble(table_index ^ 0x5555) % kTableWords.size();
  return {levels(table_index / kTablesPerNamespace),
          text("%s_%zu", kTableWords[word], table_index)};
}

TableIdent SampleCatalog::absent_ident(std::size_t table_index) const {
  TableIdent ident = this->ident(table_index);
  ident.name.back() = 'x';
  return ident;
}

std::string SampleCatalog::location(std::size_t table_index, std::size_t version) const {
  const auto a = static_cast<unsigned long>(scramble(table_index));
  const auto b = static_cast<unsigned long>(scramble(table_index + (version << 32) + 1));
  return text(
      "s3://warehouse-eu/data/%07zu/metadata/%05zu-%08lx-%04lx-4%03lx-%04lx-%012lx.metadata.json",
      table_index, version % 100'000, a & 0xffffffff, (a >> 32) & 0xffff, a >> 52, b & 0xffff,
      (b >> 16) & 0xffffffffffff);
}

Status SampleSource::for_each(const std::function<Status(const shm::Change&)>& visit) const {
  const auto visit_namespace = [&](const Namespace& levels) {
    const std::string key = encode(levels);
    return visit(
        {.kind = shm::RecordKind::kNamespace, .key = key, .location = {}, .generation = 1});
  };
  for (const auto& levels : catalog_.domains()) ICEBLINK_RETURN_IF_ERROR(visit_namespace(levels));
  for (std::size_t i = 0; i < catalog_.namespace_count(); ++i) {
    ICEBLINK_RETURN_IF_ERROR(visit_namespace(catalog_.levels(i)));
  }
  for (std::size_t i = 0; i < catalog_.table_count(); ++i) {
    const std::string key = encode(catalog_.ident(i));
    const std::string location = catalog_.location(i, 0);
    ICEBLINK_RETURN_IF_ERROR(visit({.kind = shm::RecordKind::kTable,
                                    .key = key,
                                    .location = location,
                                    .format_version = 2,
                                    .generation = 1}));
  }
  return Ok{};
}

Questions make_questions(const SampleCatalog& catalog, std::size_t count, std::uint64_t seed) {
  Questions questions;
  questions.idents.reserve(count);
  questions.location_bytes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t random = scramble(seed + i);
    const std::size_t index = (random >> 8) % catalog.table_count();
    if (random % 10 == 0) {
      questions.idents.push_back(catalog.absent_ident(index));
      questions.location_bytes.push_back(0);
    } else {
      questions.idents.push_back(catalog.ident(index));
      questions.location_bytes.push_back(catalog.location(index, 0).size());
    }
  }
  return questions;
}

}  // namespace iceblink::bench
