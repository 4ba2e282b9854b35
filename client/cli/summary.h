// What is said of a table or a view to people: lines with a label each, and lists below them.
#pragma once

#include <iceblink/metadata/schema.h>
#include <iceblink/metadata/table_metadata.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iceblink::cli {

/// Lines of at most 80 columns, but for what stands behind a label.
class Summary {
 public:
  void add(std::string_view label, std::string_view text);
  void add_count(std::string_view label, std::size_t count) { add(label, std::to_string(count)); }
  void add_below(std::string_view text);
  /// At most kShownMax of them.
  template <typename Element, typename Format>
  void add_list(std::span<const Element> elements, Format format) {
    for (const auto& element : elements.first(std::min(elements.size(), kShownMax))) {
      add_below(format(element));
    }
    if (elements.size() > kShownMax) {
      add_below("… and " + std::to_string(elements.size() - kShownMax) + " more");
    }
  }
  void add_properties(std::string_view label, std::span<const Property> properties);
  /// The schema's id, of how many it is one, and its columns as a tree.
  void add_schema(const Schema& schema, std::size_t schema_count);

  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  /// Of lists that may be long, what is shown.
  static constexpr std::size_t kShownMax = 10;

  void add_fields(const Schema& schema, std::span<const Field> fields, std::size_t depth,
                  std::size_t name_columns);

  std::vector<std::string> lines_;
};

/// "id 3", and of how many.
[[nodiscard]] std::string chosen(std::int32_t id, std::size_t count);

}  // namespace iceblink::cli
