// The tables that the demonstration registers: real Iceberg metadata where a folder of it lies
// beside the repository, else minimal ones written here.
#pragma once

#include <iceblink/catalog.h>

#include <string>
#include <vector>

namespace iceblink::demo {

/// A table and the metadata files its pointer may name; at least one.
struct DemoTable {
  TableIdent ident;
  std::vector<std::string> versions;
};

struct DemoTables {
  std::vector<DemoTable> tables;
  std::string origin;             // for people
  std::size_t refused_count = 0;  // files that are not valid Iceberg metadata
};

/// Registers each table's versions one after the other, so that what is kept is what the daemon
/// accepts. Made-up tables are written to `scratch_dir`.
[[nodiscard]] Result<DemoTables> register_tables(Catalog& catalog, const std::string& scratch_dir);

}  // namespace iceblink::demo
