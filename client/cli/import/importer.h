// Brings what a source has into the catalog: looks up what is there already, makes namespaces that
// are missing, and sends the rest in batches.
//
// Run again after any interruption, it goes on: what is there is found in shared memory and
// skipped.
//
// Thread safety: one thread; it reads its source in another.
#pragma once

#include <iceblink/catalog.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/cli/import/batch_sender.h"
#include "client/cli/import/step.h"

namespace iceblink::cli {

struct ImportOptions {
  enum class Effect : std::uint8_t { kApply, kNone };
  enum class IfElsewhere : std::uint8_t { kConflict, kMove };
  enum class OnFailure : std::uint8_t { kGoOn, kStop };

  Effect effect = Effect::kApply;
  /// What becomes of a table that exists with another location.
  IfElsewhere if_elsewhere = IfElsewhere::kConflict;
  OnFailure on_failure = OnFailure::kGoOn;
  RegisterOptions::Verification verification = RegisterOptions::Verification::kVerified;
  Namespace below;  // all goes below it
  std::size_t steps_per_batch = 500;
  std::chrono::milliseconds wait{30'000};
};

struct ImportCounts {
  std::uint64_t read = 0;  // tables and views; what could not be read too
  std::uint64_t created = 0;
  std::uint64_t moved = 0;
  std::uint64_t skipped = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t failed = 0;  // namespaces too
  std::uint64_t namespaces_created = 0;
};

class Importer final : private StepObserver {
 public:
  /// Told of what was or, without an effect, would be done.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void planned(const Step& step) = 0;
    virtual void conflict(const std::string& name, const std::string& why) = 0;
    virtual void failed(const std::string& message) = 0;
    virtual void progressed(std::uint64_t read) = 0;
  };

  /// The listener outlives this.
  Importer(Catalog catalog, ImportOptions options, Listener& listener);

  /// Until the source's end. An error is the source's as a whole, the catalog's, or, with kStop,
  /// the first failure; what was done until then stays.
  [[nodiscard]] Status run(Source& source);
  [[nodiscard]] const ImportCounts& counts() const noexcept { return counts_; }

 private:
  void ended(const Step& step, Outcome outcome, const Error* error) override;

  [[nodiscard]] Status take(SourceItem item);
  [[nodiscard]] Status take_namespace(FoundNamespace found);
  [[nodiscard]] Status take_object(FoundObject found);
  /// Plans the namespace and those above it, where they are missing.
  [[nodiscard]] Status need_namespace(const Namespace& levels, const Properties& properties);
  [[nodiscard]] Status plan(FoundObject found);
  /// In a dry run, a name that was planned already.
  [[nodiscard]] Status plan_again(const FoundObject& found, std::string& planned_location);
  [[nodiscard]] Status add(Step step);
  [[nodiscard]] Status properties_of_made(const Namespace& levels, const Properties& properties);
  [[nodiscard]] Status flush_if_full();
  [[nodiscard]] Status flush();
  void fail(const Error& error);
  [[nodiscard]] bool is_dry() const { return options_.effect == ImportOptions::Effect::kNone; }

  Catalog catalog_;
  const ImportOptions options_;
  Listener& listener_;
  BatchSender sender_;
  ImportCounts counts_;
  std::optional<Error> first_failure_;
  std::unordered_set<std::string> made_namespaces_;  // by this run, without properties; encoded

  // Of the batch being made.
  std::optional<Snapshot> snapshot_;
  std::vector<Step> steps_;
  std::size_t steps_bytes_ = 0;
  std::unordered_map<std::string, std::size_t> namespaces_;  // encoded -> in steps_
  std::unordered_map<std::string, std::string> objects_;     // encoded -> location
};

}  // namespace iceblink::cli
