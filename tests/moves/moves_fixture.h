// A running instance, the program on it, and metadata files for it.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/client/program.h"
#include "tests/http/metadata_samples.h"
#include "tests/http/test_daemon.h"
#include "tests/process/world.h"

namespace iceblink::test {

using iceblink::testing::Finished;
using iceblink::testing::Program;

/// One instance with its daemon as a child.
class Place {
 public:
  explicit Place(const std::vector<std::string>& arguments = {}) {
    EXPECT_TRUE(world.start(arguments));
  }

  Finished run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--dir", world.runtime_dir()});
    return Program("iceblink", arguments).wait();
  }
  /// Its lines but the first, which says the generation.
  std::vector<std::string> exported() const {
    const Finished finished = run({"export"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::istringstream text(finished.out);
    std::vector<std::string> lines;
    std::string line;
    std::getline(text, line);
    EXPECT_TRUE(line.starts_with(R"({"iceblink-export":1,)")) << line;
    while (std::getline(text, line)) lines.push_back(line);
    return lines;
  }
  /// The names of all tables.
  std::string tables() const { return run({"tables"}).out; }
  std::string location_of(const std::string& name) const {
    std::string out = run({"resolve", name}).out;
    if (!out.empty()) out.pop_back();
    return out;
  }

  World world;
};

/// A new directory, and files in it.
class Folder : public ScratchDir {
 public:
  std::string operator/(const std::string& name) const { return path() + "/" + name; }
  /// Makes the directories above it too.
  std::string put(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path path = *this / name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path.string(), bytes);
    return path.string();
  }
};

/// A table's metadata that was last updated then.
inline std::string table_of_time(const std::string& last_updated_ms) {
  std::string text = table_metadata();
  const std::string usual = "1700000000000";
  return text.replace(text.find(usual), usual.size(), last_updated_ms);
}

inline std::string table_line(const std::string& name, const std::string& location,
                              const std::string& more = "") {
  return R"({"kind":"table","namespace":["a"],"name":")" + name + R"(","metadata-location":")" +
         location + "\"" + more + "}\n";
}

}  // namespace iceblink::test
