// pointer_watch DIRECTORY: reads tables' names from standard input, one a line, and says at once
// where each points, a line each: its metadata location, or "-" where there is no such table. It
// maps the segment and asks nobody, as an engine's process would. For tests.
#include <iceblink/catalog.h>

#include <iostream>
#include <string>

namespace iceblink::test {
namespace {

std::string answer(const Catalog& catalog, const std::string& name) {
  const auto ident = parse_table(name);
  if (!ident) return "error: " + ident.error().message();
  const auto location = catalog.resolve_location(*ident);
  if (location) return *location;
  return location.error().kind() == ErrorKind::kNotFound ? "-"
                                                         : "error: " + location.error().message();
}

int run(const char* directory) {
  CatalogOptions options;
  options.ask_daemon = AskDaemon::kNever;
  const auto catalog = Catalog::open(directory, options);
  if (!catalog) {
    std::cerr << catalog.error().message() << '\n';
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(*catalog, line) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace iceblink::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: pointer_watch DIRECTORY\n";
    return 2;
  }
  return iceblink::test::run(argv[1]);
}
