// One operation of an import, and what may become of it.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/import/source.h"

namespace iceblink::cli {

struct Step {
  enum class Op : std::uint8_t { kCreateNamespace, kCreate, kMove };

  Op op = Op::kCreate;
  FoundNamespace space;     // of kCreateNamespace
  FoundObject object;       // of the others
  std::string expected;     // of kMove: where the pointer is now
  bool is_verified = true;  // the daemon reads the metadata file

  /// "table a.b.t": for messages.
  [[nodiscard]] std::string name() const;
  /// Appends the operation as a line of a batch.
  void append_line(std::string& lines) const;
};

/// How an object, or a namespace that had to be made, ended.
enum class Outcome : std::uint8_t {
  kDone,
  kSkipped,   // it is there already, and the same
  kConflict,  // the name is another's
  kFailed,
};

/// Is told of each step's end, once. `error` says why, of a conflict or a failure.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void ended(const Step& step, Outcome outcome, const Error* error) = 0;
};

[[nodiscard]] std::string describe(const FoundObject& object);

}  // namespace iceblink::cli
