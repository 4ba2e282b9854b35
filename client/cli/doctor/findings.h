// What was found, and how to mend it.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace iceblink::cli {

enum class Severity : std::uint8_t { kOk, kWarning, kProblem };

struct Finding {
  Severity severity = Severity::kOk;
  std::string check;   // which, in a word or two with dashes
  std::string found;   // names the thing
  std::string remedy;  // what to do; empty: nothing
};

class Findings {
 public:
  void ok(std::string check, std::string found) {
    list_.push_back({Severity::kOk, std::move(check), std::move(found), {}});
  }
  void warn(std::string check, std::string found, std::string remedy) {
    list_.push_back({Severity::kWarning, std::move(check), std::move(found), std::move(remedy)});
  }
  void problem(std::string check, std::string found, std::string remedy) {
    list_.push_back({Severity::kProblem, std::move(check), std::move(found), std::move(remedy)});
  }
  [[nodiscard]] const std::vector<Finding>& list() const noexcept { return list_; }

 private:
  std::vector<Finding> list_;
};

}  // namespace iceblink::cli
