// A catalog of tables in one namespace, "a", over real metadata files.
#pragma once

#include <string>

#include "tests/client/cache/metadata_files.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {

class MetadataTest : public SegmentTest {
 protected:
  void SetUp() override {
    SegmentTest::SetUp();
    store_.put_namespace({"a"});
    commit();
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return files_.path() + "/" + name;
  }
  /// Writes a file and points the table at it.
  void put(const std::string& table, const std::string& file, const std::string& text) {
    put_file(path(file), text);
    store_.put_table(name(table), path(file), fingerprint_of(text));
    commit();
  }
  static TableIdent name(const std::string& table) { return ident({"a"}, table); }

  TempDir files_;
};

}  // namespace iceblink::testing
