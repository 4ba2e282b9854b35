// Reads what /metrics serves, strictly: whatever is not in the text format fails the test.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace iceblink::test {

/// One line: a name (of a histogram: with its suffix), labels in their order, a value.
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

struct MetricFamily {
  std::string help;
  std::string type;  // counter, gauge, histogram
  std::vector<Sample> samples;
};

struct Exposition {
  std::map<std::string, MetricFamily> families;

  /// The sample's value; fails the test and gives -1 when there is none.
  [[nodiscard]] double value(const std::string& name,
                             const std::map<std::string, std::string>& labels = {}) const;
  /// As above, but 0 when there is none: what has never happened may have no line yet.
  [[nodiscard]] double value_or_zero(const std::string& name,
                                     const std::map<std::string, std::string>& labels) const;
  /// Every name that a query may use: those of histograms with their suffixes.
  [[nodiscard]] std::vector<std::string> sample_names() const;
};

[[nodiscard]] Exposition read_exposition(const std::string& text);

}  // namespace iceblink::test
