// Answers against the history. Operations: checker.cc.
#include <algorithm>

#include "stress/checker.h"

namespace iceblink::stress {
namespace {

std::string of_stream(Checker::StreamId stream) {
  return "stream " + std::to_string(stream) + ": ";
}

}  // namespace

void Checker::open_stream(StreamId stream) {
  streams_.try_emplace(stream, Stream{0, history_.trimmed_to()});
}

bool Checker::can_judge(const Answer& answer) const {
  return answer.generation <= history_.generation();
}

void Checker::judge(StreamId stream, const Answer& answer) {
  Stream& state = streams_[stream];
  state.oldest = std::max(state.oldest, answer.oldest);
  if (answer.kind == Answer::Kind::kStart) {
    state.low = answer.generation;
    return;
  }
  if (answer.kind == Answer::Kind::kEnd) return;
  ++judged_.answers;
  judged_.sights += answer.sight_count;
  switch (answer.kind) {
    case Answer::Kind::kAt:
      judge_progress(stream, state, answer);
      judge_at(stream, answer);
      break;
    case Answer::Kind::kHeld:
      judge_at(stream, answer);
      break;
    case Answer::Kind::kWithin:
      judge_within(stream, state, answer);
      break;
    case Answer::Kind::kChanges:
      // A part of the feed that is long enough ends before the present.
      if (answer.changes.count < kFeedPart) judge_progress(stream, state, answer);
      judge_feed(stream, answer);
      break;
    case Answer::Kind::kWaited:
      if (answer.generation != 0) {
        judge_progress(stream, state, answer);
      } else if (answer.acknowledged > answer.from) {
        findings_.add(Wrong::kNotWoken, of_stream(stream) + "waited in vain after generation " +
                                            std::to_string(answer.from) + ", though " +
                                            std::to_string(answer.acknowledged) +
                                            " had been acknowledged");
      }
      break;
    default:
      break;
  }
}

// What it says it saw now is not below what it saw before, nor what had been acknowledged.
void Checker::judge_progress(StreamId stream, Stream& state, const Answer& answer) {
  if (answer.generation < state.low) {
    findings_.add(Wrong::kWentBack, of_stream(stream) + "generation " +
                                        std::to_string(answer.generation) + " after " +
                                        std::to_string(state.low));
  } else if (answer.generation < answer.acknowledged) {
    findings_.add(Wrong::kNotFresh, of_stream(stream) + "generation " +
                                        std::to_string(answer.generation) + ", though " +
                                        std::to_string(answer.acknowledged) +
                                        " had been acknowledged before");
  }
  state.low = std::max(state.low, answer.generation);
}

void Checker::judge_at(StreamId stream, const Answer& answer) {
  if (answer.generation < history_.trimmed_to()) {
    findings_.add(Wrong::kCheck,
                  of_stream(stream) + "speaks of generation " + std::to_string(answer.generation) +
                      ", whose history was let go up to " + std::to_string(history_.trimmed_to()));
    return;
  }
  for (std::size_t i = 0; i < answer.sight_count; ++i) {
    const Version version = history_.at(answer.keys[i], answer.generation);
    if (version.value != answer.values[i]) {
      wrong_sight(stream, answer, i);
    } else if (version.begun_ns > answer.ended_ns) {
      findings_.add(Wrong::kTooEarly,
                    of_stream(stream) + describe(answer.keys[i], answer.values[i]) + " was seen " +
                        std::to_string(version.begun_ns - answer.ended_ns) +
                        " ns before its operation began");
    }
  }
}

void Checker::wrong_sight(StreamId stream, const Answer& answer, std::size_t sight) {
  const Key key = answer.keys[sight];
  const Version right = history_.at(key, answer.generation);
  const bool is_mixed = keys_.is_group(key) && answer.values[sight] == kMixed;
  findings_.add(is_mixed ? Wrong::kMixed : Wrong::kValue,
                of_stream(stream) + "a snapshot of generation " +
                    std::to_string(answer.generation) + " shows " +
                    describe(key, answer.values[sight]) + ", the history has " +
                    describe(key, right.value) + " since " + std::to_string(right.since));
}

// The stretches of generations at which all sights are true.
std::vector<Stretch> Checker::where(const Answer& answer, Stretch within) const {
  std::vector<Stretch> common{within};
  std::vector<Stretch> of_sight;
  std::vector<Stretch> both;
  for (std::size_t i = 0; i < answer.sight_count && !common.empty(); ++i) {
    of_sight.clear();
    history_.find(answer.keys[i], answer.values[i], {common.front().first, common.back().last},
                  of_sight);
    both.clear();
    for (std::size_t a = 0, b = 0; a < common.size() && b < of_sight.size();) {
      const Stretch cut{std::max(common[a].first, of_sight[b].first),
                        std::min(common[a].last, of_sight[b].last)};
      if (cut.first <= cut.last) both.push_back(cut);
      common[a].last < of_sight[b].last ? ++a : ++b;
    }
    common.swap(both);
  }
  return common;
}

void Checker::judge_within(StreamId stream, Stream& state, const Answer& answer) {
  const std::uint64_t first = std::max({state.low, answer.acknowledged, history_.trimmed_to()});
  if (answer.generation < std::max(state.low, answer.acknowledged)) {
    return judge_progress(stream, state, answer);
  }
  const auto found = where(answer, {first, answer.generation});
  if (found.empty()) return explain_within(stream, state, answer, {first, answer.generation});
  state.low = std::max(state.low, found.front().first);
  for (std::size_t i = 0; i < answer.sight_count; ++i) {
    const Version version = history_.at(answer.keys[i], found.front().first);
    if (version.begun_ns > answer.ended_ns) {
      findings_.add(Wrong::kTooEarly, of_stream(stream) +
                                          describe(answer.keys[i], answer.values[i]) +
                                          " was seen before its operation began");
    }
  }
}

void Checker::explain_within(StreamId stream, const Stream& state, const Answer& answer,
                             Stretch within) {
  std::string text = of_stream(stream) + "between generations " + std::to_string(within.first) +
                     " and " + std::to_string(within.last) + " saw";
  for (std::size_t i = 0; i < answer.sight_count; ++i) {
    text += (i == 0 ? " " : ", ") + describe(answer.keys[i], answer.values[i]);
  }
  const auto before = where(answer, {history_.trimmed_to(), within.last});
  if (!before.empty()) {
    const std::uint64_t last = before.back().last;
    findings_.add(last < state.low ? Wrong::kWentBack : Wrong::kNotFresh,
                  text + ", which was so up to " + std::to_string(last));
    return;
  }
  Answer one = answer;
  one.sight_count = 1;
  for (std::size_t i = 0; i < answer.sight_count; ++i) {
    one.keys[0] = answer.keys[i];
    one.values[0] = answer.values[i];
    if (!where(one, {history_.trimmed_to(), within.last}).empty()) continue;
    findings_.add(Wrong::kValue,
                  text + ": " + describe(one.keys[0], one.values[0]) + " was never so; now it is " +
                      describe(one.keys[0], history_.at(one.keys[0], within.last).value));
    return;
  }
  findings_.add(Wrong::kMixed, text + ", which were never so together");
}

void Checker::judge_feed(StreamId stream, const Answer& answer) {
  judged_.changes += answer.changes.count;
  if (answer.from < history_.trimmed_to()) {
    findings_.add(Wrong::kCheck, of_stream(stream) + "asked for changes after " +
                                     std::to_string(answer.from) + ", let go up to " +
                                     std::to_string(history_.trimmed_to()));
    return;
  }
  const ChangeSum before = history_.sum(answer.from);
  const ChangeSum after = history_.sum(answer.generation);
  const std::uint64_t count = after.count - before.count;
  if (answer.changes.count == count && answer.changes.sum == after.sum - before.sum) return;
  findings_.add(Wrong::kFeed,
                of_stream(stream) + "the changes after generation " + std::to_string(answer.from) +
                    " up to " + std::to_string(answer.generation) + " were " +
                    std::to_string(answer.changes.count) + ", the log has " +
                    std::to_string(count) + (answer.changes.count == count ? " others" : ""));
}

}  // namespace iceblink::stress
