// Short words for tests of the store: open it, write to it, name things.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/apply.h"
#include "daemon/store.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {

inline TableRow row_at(std::string location) {
  TableRow row;
  row.location = std::move(location);
  row.table_uuid[0] = 7;
  row.metadata_fingerprint[15] = 9;
  row.format_version = 2;
  return row;
}

inline std::unique_ptr<Store> open_store(const std::string& dir, StoreOptions options = {}) {
  options.data_dir = dir;
  if (options.map_bytes == StoreOptions{}.map_bytes) options.map_bytes = std::uint64_t{1} << 28;
  auto store = Store::open(std::move(options));
  if (!store) throw std::runtime_error(store.error().message());
  return std::move(store).value();
}

inline std::unique_ptr<Store::Reading> read(const Store& store) {
  auto reading = store.read();
  if (!reading) throw std::runtime_error(reading.error().message());
  return std::move(reading).value();
}

/// Applies a list in a transaction of its own, growing the map as the committer does.
inline ApplyOutcome commit(Store& store, const std::vector<Operation>& operations) {
  while (true) {
    auto writing = store.write();
    if (!writing) throw std::runtime_error(writing.error().message());
    auto outcome = apply_operations(**writing, operations);
    Status status = outcome ? Status(Ok{}) : Status(outcome.error());
    if (status && std::holds_alternative<Applied>(*outcome)) {
      const auto& changes = std::get<Applied>(*outcome).changes;
      if (!changes.empty()) status = (*writing)->commit(changes);
    }
    const bool map_full = (*writing)->map_full();
    std::move(writing).value().reset();
    if (status) return *std::move(outcome);
    if (!map_full) throw std::runtime_error(status.error().message());
    if (auto grown = store.grow(); !grown) throw std::runtime_error(grown.error().message());
  }
}

/// A refusal as "index kind: message", or "done".
inline std::string said(const ApplyOutcome& outcome) {
  const auto* const refused = std::get_if<Refused>(&outcome);
  if (refused == nullptr) return "done";
  return std::to_string(refused->operation_index) + " " +
         std::string(to_string(refused->error.kind())) + ": " + refused->error.message();
}

inline Refusal refusal_of(const ApplyOutcome& outcome) {
  const auto* const refused = std::get_if<Refused>(&outcome);
  return refused == nullptr ? Refusal::kNone : refused->refusal;
}

inline Register registering(TableIdent ident, std::string location) {
  return {std::move(ident), row_at(std::move(location)), Register::IfExists::kFail, {}};
}

inline Register overwriting(TableIdent ident, std::string location,
                            std::optional<std::string> expect = {}) {
  return {std::move(ident), row_at(std::move(location)), Register::IfExists::kOverwrite,
          std::move(expect)};
}

inline std::string location_of(const Store& store, const TableIdent& ident) {
  const auto row = read(store)->find_table(ident);
  if (!row) throw std::runtime_error(row.error().message());
  return *row ? (*row)->location : "(none)";
}

}  // namespace iceblink::daemon
