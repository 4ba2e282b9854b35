#include "tests/http/exposition_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <regex>
#include <sstream>

namespace iceblink::test {
namespace {

const Sample* find(const Exposition& exposition, const std::string& name,
                   const std::map<std::string, std::string>& labels) {
  for (const auto& [family_name, family] : exposition.families) {
    for (const Sample& sample : family.samples) {
      if (sample.name == name && sample.labels == labels) return &sample;
    }
  }
  return nullptr;
}

std::optional<Sample> sample_of(const std::string& line) {
  static const std::regex shape(R"(([a-z_:][a-z0-9_:]*)(\{(.*)\})? ([^ ]+))");
  static const std::regex label(R"re(([a-z_]+)="([^"\\]*)",?)re");
  std::smatch parts;
  if (!std::regex_match(line, parts, shape)) return std::nullopt;
  Sample sample{parts[1], {}, 0};
  const std::string labels = parts[3];
  std::size_t used = 0;
  for (std::sregex_iterator it(labels.begin(), labels.end(), label), end; it != end; ++it) {
    sample.labels[(*it)[1]] = (*it)[2];
    used += static_cast<std::size_t>(it->length());
  }
  if (used != labels.size()) return std::nullopt;
  std::size_t read = 0;
  const std::string number = parts[4];
  sample.value = std::stod(number, &read);
  return read == number.size() ? std::optional(sample) : std::nullopt;
}

}  // namespace

double Exposition::value(const std::string& name,
                         const std::map<std::string, std::string>& labels) const {
  const Sample* const sample = find(*this, name, labels);
  EXPECT_NE(sample, nullptr) << name;
  return sample == nullptr ? -1 : sample->value;
}

double Exposition::value_or_zero(const std::string& name,
                                 const std::map<std::string, std::string>& labels) const {
  const Sample* const sample = find(*this, name, labels);
  return sample == nullptr ? 0 : sample->value;
}

std::vector<std::string> Exposition::sample_names() const {
  std::vector<std::string> names;
  for (const auto& [name, family] : families) {
    if (family.type != "histogram") {
      names.push_back(name);
      continue;
    }
    for (const char* const suffix : {"_bucket", "_sum", "_count"}) names.push_back(name + suffix);
  }
  return names;
}

Exposition read_exposition(const std::string& text) {
  static const std::regex comment(R"(# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+))");
  Exposition exposition;
  std::string current;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, comment)) {
      MetricFamily& family = exposition.families[parts[2]];
      if (parts[1] == "HELP") {
        EXPECT_TRUE(family.help.empty() && family.samples.empty()) << "twice: " << line;
        family.help = parts[3];
      } else {
        EXPECT_FALSE(family.help.empty()) << "a type before its help: " << line;
        EXPECT_TRUE(family.type.empty() && family.samples.empty()) << "twice: " << line;
        family.type = parts[3];
      }
      current = parts[2];
      continue;
    }
    auto sample = sample_of(line);
    EXPECT_TRUE(sample.has_value()) << "not a sample: " << line;
    if (!sample) continue;
    EXPECT_TRUE(sample->name.starts_with(current)) << line << " stands below " << current;
    exposition.families[current].samples.push_back(std::move(*sample));
  }
  return exposition;
}

}  // namespace iceblink::test
