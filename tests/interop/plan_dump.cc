// plan_dump DIRECTORY NAMESPACE.TABLE: reads predicates from standard input, one a line, and prints
// the plan of the table's current snapshot for each, a JSON object a line. For tests.
//
// A predicate is a JSON array: ["==", COLUMN, VALUE] and with !=, <, <=, >, >= the same;
// ["is-null", COLUMN], ["not-null", COLUMN]; ["and", P, P], ["or", P, P], ["not", P]; ["true"].
// Bytes are {"hex": "00ff"}, numbers with a point {"double": "0.5"}.
#include <iceblink/catalog.h>
#include <iceblink/table.h>

#include <boost/json.hpp>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::test {
namespace {

namespace json = boost::json;

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

PredicateValue value_of(const json::value& value) {
  if (value.is_bool()) return value.get_bool();
  if (value.is_int64()) return std::int64_t{value.get_int64()};
  if (value.is_string()) return std::string(value.get_string());
  const json::object& object = value.as_object();
  if (const auto* const hex = object.if_contains("hex")) return bytes_of(hex->as_string());
  return std::stod(std::string(object.at("double").as_string()));  // which rounds correctly
}

Predicate predicate_of(const json::value& value) {
  static const std::map<std::string, Comparison> kComparisons{
      {"==", Comparison::kEqual},  {"!=", Comparison::kNotEqual},
      {"<", Comparison::kLess},    {"<=", Comparison::kLessEqual},
      {">", Comparison::kGreater}, {">=", Comparison::kGreaterEqual}};
  const json::array& parts = value.as_array();
  const std::string kind(parts.at(0).as_string());
  if (kind == "and") return predicate_of(parts.at(1)) && predicate_of(parts.at(2));
  if (kind == "or") return predicate_of(parts.at(1)) || predicate_of(parts.at(2));
  if (kind == "not") return !predicate_of(parts.at(1));
  const std::string column(parts.at(1).as_string());
  if (kind == "is-null") return Predicate::is_null(column);
  if (kind == "not-null") return Predicate::not_null(column);
  return Predicate::compare(column, kComparisons.at(kind), value_of(parts.at(2)));
}

json::object plan_of(const Table& table, const json::value& wanted) {
  PlanOptions options;
  if (wanted.as_array().at(0) != "true") options.predicate = predicate_of(wanted);
  const auto plan = table.plan_files(options);
  if (!plan) return {{"error", plan.error().message()}};
  json::array paths;
  for (const FileTask& task : plan->tasks()) paths.emplace_back(task.file->file_path);
  return {{"paths", std::move(paths)},
          {"manifests", plan->counts().manifest_count},
          {"skipped-manifests", plan->counts().skipped_manifest_count},
          {"files", plan->counts().file_count},
          {"skipped-files", plan->counts().skipped_file_count}};
}

int run(const char* directory, const char* name) {
  const auto ident = parse_table(name);
  const auto catalog = Catalog::open(directory);
  if (!ident || !catalog) {
    std::cerr << (ident ? catalog.error() : ident.error()).message() << '\n';
    return 1;
  }
  const auto table = catalog->load_table(*ident);
  if (!table) {
    std::cerr << table.error().message() << '\n';
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << json::serialize(plan_of(**table, json::parse(line))) << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace iceblink::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: plan_dump DIRECTORY NAMESPACE.TABLE\n";
    return 2;
  }
  return iceblink::test::run(argv[1], argv[2]);
}
