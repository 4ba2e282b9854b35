// metadata_dump dump|write FILE: what was read of a metadata file, value by value, or the document
// as we write it. For tests; see metadata_dump.h.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "iceberg/metadata_parser.h"
#include "iceberg/metadata_writer.h"
#include "tests/interop/metadata_dump.h"

namespace iceblink::test {
namespace {

Result<std::string> text_of(const MetadataDocument& document, std::string_view wanted) {
  if (wanted == "dump") return dump_metadata(document);
  if (document.kind() == MetadataDocument::Kind::kView) {
    return iceberg::write_view_metadata(static_cast<const ViewMetadata&>(document));
  }
  return iceberg::write_table_metadata(static_cast<const TableMetadata&>(document));
}

int run(std::string_view wanted, const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::cerr << path << ": cannot be read\n";
    return 2;
  }
  const auto document = iceberg::parse_metadata(iceberg::ByteBuffer(std::string_view(bytes)));
  if (!document) {
    std::cerr << to_string(document.error().kind()) << ": " << document.error().message() << '\n';
    return 1;
  }
  const auto text = text_of(**document, wanted);
  if (!text) {
    std::cerr << to_string(text.error().kind()) << ": " << text.error().message() << '\n';
    return 1;
  }
  std::cout << *text;
  return 0;
}

}  // namespace
}  // namespace iceblink::test

int main(int argc, char** argv) {
  const std::string_view wanted = argc == 3 ? argv[1] : "";
  if (wanted != "dump" && wanted != "write") {
    std::cerr << "usage: metadata_dump dump|write FILE\n";
    return 2;
  }
  return iceblink::test::run(wanted, argv[2]);
}
