// Operations against the log. Answers: checker_answers.cc.
#include "stress/checker.h"

#include <algorithm>

namespace iceblink::stress {
namespace {

bool matches(const Effect& effect, const Change& change) {
  if (effect.key != change.key) return false;
  if (effect.value == kFileBit) return (change.value & kFileBit) != 0;
  return effect.value == change.value;
}

std::uint32_t all_effects(const WriterRecord& begun) {
  return (std::uint32_t{1} << begun.effect_count) - 1;
}

}  // namespace

Checker::Checker(const KeySpace& keys, Findings& findings)
    : keys_(keys), findings_(findings), history_(keys), open_(keys.writers()) {}

void Checker::take(unsigned writer, const WriterRecord& record) {
  if (record.type == WriterRecord::Type::kBegun) {
    open_[writer].push_back({.begun = record});
    return;
  }
  for (Operation& operation : open_[writer]) {
    if (operation.begun.number != record.number || operation.has_ended) continue;
    operation.has_ended = true;
    operation.outcome = record.outcome;
    operation.generation = record.generation;
    return;
  }
  findings_.add(Wrong::kCheck,
                "an operation ended that had not begun: " + std::to_string(record.number));
}

// By how it ended, as far as that is known. Two may have the same effect, as to drop one name.
bool Checker::could_have_done(const Operation& operation, std::uint64_t generation) {
  if (!operation.has_ended) return true;
  switch (operation.outcome) {
    case Outcome::kDone:
      return generation == operation.generation;
    case Outcome::kDoneBefore:
    case Outcome::kUnknown:
      return generation <= operation.generation;
    case Outcome::kNotDone:
      break;
  }
  return false;
}

Checker::Operation* Checker::find_claimant(unsigned writer, std::uint64_t generation,
                                           const Change& change, std::size_t& effect) {
  if (writer >= open_.size()) return nullptr;
  for (Operation& operation : open_[writer]) {
    if (!could_have_done(operation, generation)) continue;
    for (std::size_t i = 0; i < operation.begun.effect_count; ++i) {
      const bool is_free = (operation.claimed & (std::uint32_t{1} << i)) == 0;
      if (!is_free || !matches(operation.begun.effects[i], change)) continue;
      effect = i;
      return &operation;
    }
  }
  return nullptr;
}

std::uint64_t Checker::claim(std::uint64_t generation, const Change& change) {
  unsigned writer = keys_.owner(change.key);
  std::size_t effect = 0;
  Operation* operation = nullptr;
  if (writer != kNoOwner) {
    operation = find_claimant(writer, generation, change, effect);
  } else if (change.value > 1) {
    operation = find_claimant(writer_of_number(change.value), generation, change, effect);
  } else {
    for (writer = 0; writer < open_.size() && operation == nullptr; ++writer) {
      operation = find_claimant(writer, generation, change, effect);
    }
  }
  if (operation == nullptr) {
    findings_.add(Wrong::kPhantom, "generation " + std::to_string(generation) +
                                       " of the log: " + describe(change.key, change.value) +
                                       ", which nobody did that could have");
    return 0;
  }
  if (operation->claimed != 0 && operation->claimed_at != generation) {
    findings_.add(Wrong::kHalfDone, describe(*operation) + ": parts of it are in generations " +
                                        std::to_string(operation->claimed_at) + " and " +
                                        std::to_string(generation));
  }
  operation->claimed |= std::uint32_t{1} << effect;
  operation->claimed_at = generation;
  return operation->begun.at_ns;
}

void Checker::log(std::uint64_t generation, std::span<const Change> changes) {
  std::vector<Change> stamped(changes.begin(), changes.end());
  for (Change& change : stamped) change.begun_ns = claim(generation, change);
  history_.append(generation, stamped);
  for (const Change& change : changes) {
    if (!keys_.is_object(change.key)) continue;
    const Key group = keys_.object(change.key).group;
    if (group == kNoKey || history_.current(group).value != kMixed) continue;
    findings_.add(Wrong::kHalfDone, keys_.name(group) +
                                        " is mixed in the log itself, at generation " +
                                        std::to_string(generation));
    return;
  }
}

void Checker::settle() {
  for (auto& operations : open_) {
    std::erase_if(operations, [this](const Operation& operation) {
      if (!operation.has_ended || operation.generation > history_.generation()) return false;
      settle(operation);
      return true;
    });
  }
}

void Checker::settle(const Operation& operation) {
  const bool all = operation.claimed == all_effects(operation.begun);
  const bool none = operation.claimed == 0;
  const std::string at = std::to_string(operation.generation);
  switch (operation.outcome) {
    case Outcome::kDone:
    case Outcome::kDoneBefore: {
      const bool is_before = operation.outcome == Outcome::kDoneBefore;
      ++(is_before ? judged_.repeated : judged_.acknowledged);
      if (!all) {
        findings_.add(none ? Wrong::kLost : Wrong::kHalfDone,
                      describe(operation) + ": acknowledged at generation " + at +
                          (none ? ", and not in the log" : ", and only in part in the log"));
      } else if (is_before ? operation.claimed_at > operation.generation
                           : operation.claimed_at != operation.generation) {
        findings_.add(Wrong::kLost, describe(operation) + ": acknowledged at generation " + at +
                                        ", but the log has it at " +
                                        std::to_string(operation.claimed_at));
      }
      return;
    }
    case Outcome::kNotDone:
      ++judged_.refused;
      if (!none) {
        findings_.add(Wrong::kPhantom, describe(operation) + ": refused, and in the log at " +
                                           std::to_string(operation.claimed_at));
      }
      return;
    case Outcome::kUnknown:
      ++(none ? judged_.unknown_not_done : judged_.unknown_done);
      if (!all && !none) {
        findings_.add(Wrong::kHalfDone,
                      describe(operation) + ": unanswered, and in part in the log");
      }
      return;
  }
}

std::size_t Checker::open_operations() const {
  std::size_t count = 0;
  for (const auto& operations : open_) count += operations.size();
  return count;
}

void Checker::trim() {
  std::uint64_t oldest = history_.generation();
  oldest -= std::min(oldest, kMargin);
  for (const auto& [id, stream] : streams_) oldest = std::min(oldest, stream.oldest);
  history_.trim(oldest);
}

std::string Checker::describe(const Operation& operation) const {
  std::string text = "operation " + std::to_string(operation.begun.number & 0xFFFFFFFFFF) +
                     " of writer " + std::to_string(writer_of_number(operation.begun.number)) +
                     " (";
  for (std::size_t i = 0; i < operation.begun.effect_count; ++i) {
    if (i > 0) text += "; ";
    text += describe(operation.begun.effects[i].key, operation.begun.effects[i].value);
  }
  return text + ")";
}

std::string Checker::describe(Key key, Value value) const {
  std::string text = keys_.name(key);
  if (value == kMixed && keys_.is_group(key)) return text + " mixed";
  if (!keys_.is_object(key) && !keys_.is_group(key)) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), " = 0x%llx", static_cast<unsigned long long>(value));
    return text + digits;
  }
  if (value == kAbsent) return text + " absent";
  if ((value & kFileBit) != 0) return text + " = file " + std::to_string(value & 0xFFFFFFFF);
  const std::uint64_t number = value & ~kViewBit;
  return text + ((value & kViewBit) != 0 ? " = view " : " = ") +
         std::to_string(writer_of_number(number)) + "/" + std::to_string(number & 0xFFFFFFFFFF);
}

}  // namespace iceblink::stress
