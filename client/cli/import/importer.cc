#include "client/cli/import/importer.h"

#include <utility>

#include "client/cli/import/item_queue.h"

namespace iceblink::cli {
namespace {

/// A batch ends at this size too: the daemon takes bodies of 16 MiB, unless it is told otherwise.
constexpr std::size_t kBatchBytesMax = std::size_t{6} << 20;
/// Names that a dry run remembers, to see which come twice.
constexpr std::size_t kDryObjectsMax = 100'000;
/// Namespaces made without properties that a run remembers, for those that come after all.
constexpr std::size_t kMadeNamespacesMax = 100'000;
/// What a line takes beside its names and its location.
constexpr std::size_t kLineBytes = 160;

std::size_t bytes_of(const Step& step) {
  std::size_t bytes = kLineBytes + step.object.metadata_location.size() + step.expected.size() +
                      step.object.ident.name.size();
  for (const auto& level : step.object.ident.levels) bytes += level.size() + 3;
  for (const auto& [key, value] : step.space.properties) bytes += key.size() + value.size() + 6;
  return bytes;
}

std::string elsewhere(const FoundObject& object, const TableView& found) {
  if (found.kind() != object.kind) {
    return found.kind() == ObjectKind::kView ? "a view has that name" : "a table has that name";
  }
  return "is at " + std::string(found.metadata_location()) + ", and not at " +
         object.metadata_location;
}

}  // namespace

Importer::Importer(Catalog catalog, ImportOptions options, Listener& listener)
    : catalog_(std::move(catalog)),
      options_(std::move(options)),
      listener_(listener),
      sender_(catalog_, options_.wait, *this) {}

Status Importer::run(Source& source) {
  ItemQueue queue(source);
  while (true) {
    auto items = queue.take();
    if (!items) {
      ICEBLINK_RETURN_IF_ERROR(flush());
      return items.error();
    }
    if (items->empty()) return flush();
    // A snapshot keeps its arena in memory: not for longer than what is planned by it.
    if (steps_.empty()) snapshot_.reset();
    for (auto& item : *items) {
      ICEBLINK_RETURN_IF_ERROR(take(std::move(item)));
      const bool stops = options_.on_failure == ImportOptions::OnFailure::kStop;
      if (stops && first_failure_) return *first_failure_;
    }
  }
}

Status Importer::take(SourceItem item) {
  if (!snapshot_) {
    ICEBLINK_ASSIGN_OR_RETURN(snapshot_, catalog_.snapshot());
  }
  if (auto* const space = std::get_if<FoundNamespace>(&item)) {
    return take_namespace(std::move(*space));
  }
  listener_.progressed(++counts_.read);
  if (auto* const object = std::get_if<FoundObject>(&item)) return take_object(std::move(*object));
  fail(std::get<Unreadable>(item).error);
  return Ok{};
}

Status Importer::take_namespace(FoundNamespace found) {
  found.levels.insert(found.levels.begin(), options_.below.begin(), options_.below.end());
  if (found.levels.empty()) return Ok{};  // the root is always there
  if (const Status valid = validate(found.levels); !valid) {
    fail({valid.error().kind(),
          "namespace " + format(found.levels) + ": " + valid.error().message()});
    return Ok{};
  }
  ICEBLINK_RETURN_IF_ERROR(need_namespace(found.levels, found.properties));
  return flush_if_full();
}

Status Importer::take_object(FoundObject found) {
  auto& levels = found.ident.levels;
  levels.insert(levels.begin(), options_.below.begin(), options_.below.end());
  if (const Status valid = validate(found.ident); !valid) {
    fail({valid.error().kind(), describe(found) + ": " + valid.error().message()});
    return Ok{};
  }
  const auto planned = objects_.find(encode(found.ident));
  if (planned != objects_.end()) {
    if (planned->second == found.metadata_location) {
      ++counts_.skipped;
      return Ok{};
    }
    if (is_dry()) return plan_again(found, planned->second);
    // Judged by what the first one will have become.
    ICEBLINK_RETURN_IF_ERROR(flush());
    ICEBLINK_ASSIGN_OR_RETURN(snapshot_, catalog_.snapshot());
  }
  return plan(std::move(found));
}

Status Importer::plan(FoundObject found) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto there, snapshot_->find(found.ident));
  Step step;
  if (there) {
    const bool is_same_kind = there->kind() == found.kind;
    if (is_same_kind && there->metadata_location() == found.metadata_location) {
      ++counts_.skipped;
      return Ok{};
    }
    if (!is_same_kind || options_.if_elsewhere == ImportOptions::IfElsewhere::kConflict) {
      ++counts_.conflicts;
      listener_.conflict(describe(found), elsewhere(found, *there));
      return Ok{};
    }
    step.op = Step::Op::kMove;
    step.expected = there->metadata_location();
  } else {
    ICEBLINK_RETURN_IF_ERROR(need_namespace(found.ident.levels, {}));
  }
  step.is_verified =
      options_.verification == RegisterOptions::Verification::kVerified && !found.is_unverified;
  objects_.emplace(encode(found.ident), found.metadata_location);
  step.object = std::move(found);
  return add(std::move(step));
}

Status Importer::plan_again(const FoundObject& found, std::string& planned_location) {
  if (options_.if_elsewhere == ImportOptions::IfElsewhere::kConflict) {
    ++counts_.conflicts;
    listener_.conflict(describe(found), "comes twice, at " + planned_location + " and at " +
                                            found.metadata_location);
    return Ok{};
  }
  Step step;
  step.op = Step::Op::kMove;
  step.object = found;
  step.expected = std::exchange(planned_location, found.metadata_location);
  return add(std::move(step));
}

Status Importer::need_namespace(const Namespace& levels, const Properties& properties) {
  if (const auto planned = namespaces_.find(encode(levels)); planned != namespaces_.end()) {
    // Planned for what stands below it; what it says of itself comes now.
    if (!is_dry()) {
      Step& step = steps_[planned->second];
      steps_bytes_ -= bytes_of(step);
      step.space.properties.insert(properties.begin(), properties.end());
      steps_bytes_ += bytes_of(step);
    }
    return Ok{};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const bool exists, snapshot_->namespace_exists(levels));
  if (exists) return properties_of_made(levels, properties);
  if (levels.size() > 1) {
    ICEBLINK_RETURN_IF_ERROR(need_namespace(Namespace(levels.begin(), levels.end() - 1), {}));
  }
  namespaces_.emplace(encode(levels), steps_.size());
  Step step;
  step.op = Step::Op::kCreateNamespace;
  step.space = {levels, properties};
  if (is_dry()) return add(std::move(step));
  steps_bytes_ += bytes_of(step);
  steps_.push_back(std::move(step));  // in the batch of what needs it
  return Ok{};
}

// A namespace that is there keeps its properties; one that this run made for what stands below it,
// in a batch before, has none yet.
Status Importer::properties_of_made(const Namespace& levels, const Properties& properties) {
  if (properties.empty() || !made_namespaces_.contains(encode(levels))) return Ok{};
  const auto done = catalog_.update_properties(levels, {}, properties);
  if (done) return Ok{};
  fail({done.error().kind(),
        "properties of namespace " + format(levels) + ": " + done.error().message()});
  return Ok{};
}

Status Importer::add(Step step) {
  if (is_dry()) {
    listener_.planned(step);
    ended(step, Outcome::kDone, nullptr);
    if (objects_.size() >= kDryObjectsMax) objects_.clear();
    return Ok{};
  }
  steps_bytes_ += bytes_of(step);
  steps_.push_back(std::move(step));
  return flush_if_full();
}

Status Importer::flush_if_full() {
  const bool is_full = steps_.size() >= options_.steps_per_batch || steps_bytes_ >= kBatchBytesMax;
  return is_full ? flush() : Status(Ok{});
}

Status Importer::flush() {
  snapshot_.reset();
  if (is_dry()) return Ok{};  // what is planned stays planned
  namespaces_.clear();
  objects_.clear();
  steps_bytes_ = 0;
  auto steps = std::exchange(steps_, {});
  return steps.empty() ? Status(Ok{}) : sender_.send(std::move(steps));
}

void Importer::ended(const Step& step, Outcome outcome, const Error* error) {
  const bool is_namespace = step.op == Step::Op::kCreateNamespace;
  switch (outcome) {
    case Outcome::kDone:
      if (is_namespace && step.space.properties.empty() &&
          made_namespaces_.size() < kMadeNamespacesMax) {
        made_namespaces_.insert(encode(step.space.levels));
      }
      ++(is_namespace                 ? counts_.namespaces_created
         : step.op == Step::Op::kMove ? counts_.moved
                                      : counts_.created);
      return;
    case Outcome::kSkipped:
      if (!is_namespace) ++counts_.skipped;
      return;
    case Outcome::kConflict:
      ++counts_.conflicts;
      return listener_.conflict(step.name(), error->message());
    case Outcome::kFailed:
      return fail({error->kind(), step.name() + ": " + error->message()});
  }
}

void Importer::fail(const Error& error) {
  ++counts_.failed;
  if (!first_failure_) first_failure_ = error;
  listener_.failed(error.message());
}

}  // namespace iceblink::cli
