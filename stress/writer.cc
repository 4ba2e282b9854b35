// How an operation is carried out and recorded. What there is to do: writer_plans.cc.
#include "stress/writer.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>

#include "client/wire.h"
#include "shm/layout.h"
#include "stress/requests.h"

namespace iceblink::stress {
namespace {

constexpr std::chrono::milliseconds kDeadline{20'000};
constexpr unsigned kPauseMaxUs = 4000;
constexpr unsigned kAwayPauseUs = 3000;
constexpr unsigned kUnknownAnswersMax = 100;
constexpr unsigned kSentTwiceIn = 10;  // of so many, one

bool is_stopping(const Stage& stage) {
  return stage.stop_writers.load(std::memory_order_relaxed);  // relaxed: asked again
}

std::uint64_t lives_ended(const Stage& stage) {
  // SYNC stress-life: acquires the daemon's end; partner DaemonLives
  return stage.life.load(std::memory_order_acquire);
}

/// Nothing was done, and it may be tried again.
bool is_passing(ErrorKind kind) {
  return kind == ErrorKind::kNoDaemon || kind == ErrorKind::kTimedOut || kind == ErrorKind::kBusy ||
         kind == ErrorKind::kNoSpace;
}

/// Where nothing is left that the stored answer could be made of (docs/rest.md, Idempotency-Key).
bool says_done(const Error& error) {
  return error.message().find("This was done, ") != std::string::npos;
}

bool is_refusal(ErrorKind kind) {
  return kind == ErrorKind::kConflict || kind == ErrorKind::kNotFound ||
         kind == ErrorKind::kAlreadyExists || kind == ErrorKind::kNotEmpty;
}

}  // namespace

Writer::Writer(Stage& stage, const KeySpace& keys, unsigned writer, const std::string& runtime_dir,
               Catalog catalog, std::uint64_t seed)
    : stage_(stage),
      keys_(keys),
      writer_(writer),
      estate_(keys.estate(writer)),
      catalog_(std::move(catalog)),
      daemon_(runtime_dir + "/" + shm::kSocketName),
      random_(seed),
      number_(first_number_of(writer)),
      values_(keys.key_count(), kAbsent) {}

void Writer::run() {
  set_up();
  while (!is_stopping(stage_)) {
    ++number_;
    if (const auto next = plan()) perform(*next);
    ::usleep(static_cast<unsigned>(random(kPauseMaxUs)));
  }
}

void Writer::set_up() {
  std::vector<unsigned> wanted = {estate_.own, estate_.files};
  if (writer_ == 0) {
    wanted.push_back(keys_.shared_namespace());
    wanted.push_back(keys_.group_namespace());
  }
  for (const unsigned index : wanted) {
    const Key key = keys_.namespace_key(index);
    while (!exists(key) && !is_stopping(stage_)) {
      ++number_;
      perform(batch(Counted::kNamespaceMade,
                    requests::create_namespace_line(keys_.namespace_name(index)), {{key, 1}}));
    }
  }
}

Writer::Plan Writer::batch(Counted kind, std::string lines, std::vector<Effect> effects) const {
  return {.kind = kind,
          .request = {.method = "POST",
                      .target = "/iceblink/v1/batch",
                      .content_type = "application/x-ndjson",
                      .body = std::move(lines),
                      .effect = client::Effect::kWrite},
          .effects = std::move(effects)};
}

Writer::Plan Writer::rest(Counted kind, std::string_view method, std::string target,
                          std::string body, std::vector<Effect> effects) {
  return {.kind = kind,
          .request = {.method = method,
                      .target = std::move(target),
                      .body = std::move(body),
                      .effect = client::Effect::kWrite,
                      .idempotency_key = new_idempotency_key()},
          .effects = std::move(effects)};
}

void Writer::record(WriterRecord& record) {
  record.number = number_;
  record.at_ns = now_ns();
  while (!stage_.lanes[writer_].push(record)) ::usleep(1000);  // the judge has much to do
}

void Writer::perform(const Plan& plan) {
  WriterRecord begun;
  for (const Effect& effect : plan.effects) begun.effects[begun.effect_count++] = effect;
  record(begun);
  const Ending ending = send(plan);
  const bool is_done = ending.outcome == Outcome::kDone || ending.outcome == Outcome::kDoneBefore;
  if (is_done) stage_.acknowledge(ending.generation);
  WriterRecord ended;
  ended.type = WriterRecord::Type::kEnded;
  ended.outcome = ending.outcome;
  ended.generation = ending.generation;
  record(ended);
  if (is_done) {
    stage_.count(plan.kind);
    for (const Effect& effect : plan.effects) values_[effect.key] = effect.value;
    if (ending.outcome == Outcome::kDoneBefore) stage_.count(Counted::kRepeated);
  }
  if (ending.outcome == Outcome::kUnknown) look_again();
}

Writer::Ending Writer::send(const Plan& plan) {
  const bool has_key = !plan.request.idempotency_key.empty();
  Outcome done = Outcome::kDone;
  for (unsigned unknown_answers = 0;;) {
    const auto answer = daemon_.call(plan.request, kDeadline);
    if (answer && client::is_success(*answer)) {
      if (plan.expected == Expected::kRefused) odd(plan, "done, though it must be refused");
      if (has_key && random(kSentTwiceIn) == 0) send_again(plan);
      if (answer->generation) return {done, *answer->generation};
      odd(plan, "an answer without a generation");
      return {Outcome::kDoneBefore, 0};
    }
    const Error error = answer ? client::error_of(plan.request, *answer) : answer.error();
    if (error.kind() == ErrorKind::kStateUnknown) {
      if (!has_key) return {Outcome::kUnknown, settle()};
      done = Outcome::kDoneBefore;
      if (says_done(error) && answer->generation) return {done, *answer->generation};
      if (answer && ++unknown_answers == kUnknownAnswersMax) {
        odd(plan, "unknown again and again: " + error.message());
        return {Outcome::kUnknown, settle()};
      }
    } else if (is_passing(error.kind())) {
      // Whether it was done before is not what this answer says.
      if (done == Outcome::kDone) {
        stage_.count(error.kind() == ErrorKind::kNoSpace ? Counted::kNoSpace
                     : error.kind() == ErrorKind::kBusy  ? Counted::kBusy
                                                         : Counted::kAway);
        if (error.kind() == ErrorKind::kNoDaemon) ::usleep(kAwayPauseUs);
        return {Outcome::kNotDone, 0};
      }
    } else if (is_refusal(error.kind())) {
      if (plan.expected == Expected::kDone) odd(plan, "refused: " + error.message());
      if (plan.expected == Expected::kRefused) stage_.count(plan.kind);
      return {Outcome::kNotDone, 0};
    } else {
      odd(plan, std::string(to_string(error.kind())) + ": " + error.message());
      return {Outcome::kNotDone, 0};
    }
    ::usleep(kAwayPauseUs);
  }
}

void Writer::send_again(const Plan& plan) {
  const auto answer = daemon_.call(plan.request, kDeadline);
  if (!answer) return;
  if (client::is_success(*answer)) return stage_.count(Counted::kSentTwice);
  const Error error = client::error_of(plan.request, *answer);
  if (is_passing(error.kind()) || error.kind() == ErrorKind::kStateUnknown) return;
  odd(plan, "done, but refused when it was sent again: " + error.message());
}

std::uint64_t Writer::settle() {
  const client::Request look{.method = "GET", .target = "/v1/namespaces"};
  // The daemon that was asked is the present one at most; once that has ended, nothing that it
  // left can still be done.
  for (const std::uint64_t ended = lives_ended(stage_);; ::usleep(kAwayPauseUs)) {
    if (lives_ended(stage_) == ended) continue;
    const auto answer = daemon_.call(look, kDeadline);
    if (answer && client::is_success(*answer) && answer->generation) return *answer->generation;
  }
}

void Writer::look_again() {
  const auto snapshot = catalog_.snapshot();
  if (!snapshot) return stage_.report(Wrong::kReader, snapshot.error().message());
  for (const unsigned index : {estate_.own, estate_.flux, estate_.files}) {
    const auto exists = snapshot->namespace_exists({keys_.namespace_name(index)});
    values_[keys_.namespace_key(index)] = exists && *exists ? 1 : 0;
  }
  for (Key key = keys_.first_object(); key < keys_.first_group(); ++key) {
    if (keys_.owner(key) != writer_) continue;
    const auto found = snapshot->find(ident(key));
    if (!found) return stage_.report(Wrong::kReader, found.error().message());
    values_[key] =
        *found ? value_of_location((*found)->metadata_location(), (*found)->kind()) : kAbsent;
  }
}

void Writer::odd(const Plan& plan, std::string_view what) const {
  stage_.report(Wrong::kRefusal, "writer " + std::to_string(writer_) + ": " +
                                     std::string(plan.request.method) + " " + plan.request.target +
                                     " " + plan.request.body + ": " + std::string(what));
}

std::string Writer::new_idempotency_key() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto ms = static_cast<std::uint64_t>(now.tv_sec) * 1000 +
                  static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
  const std::uint64_t low = (random_() >> 2) | (std::uint64_t{1} << 63);
  char text[48];
  std::snprintf(
      text, sizeof(text), "%08llx-%04llx-7%03llx-%04llx-%012llx",
      static_cast<unsigned long long>(ms >> 16), static_cast<unsigned long long>(ms & 0xFFFF),
      static_cast<unsigned long long>(random(0x1000)), static_cast<unsigned long long>(low >> 48),
      static_cast<unsigned long long>(low & 0xFFFFFFFFFFFF));
  return text;
}

void write_on(Stage& stage, const KeySpace& keys, unsigned writer, const std::string& runtime_dir,
              std::uint64_t seed) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto catalog = Catalog::open(runtime_dir);
  if (!catalog) {
    stage.report(Wrong::kReader, "open: " + catalog.error().message());
    ::_exit(1);
  }
  Writer(stage, keys, writer, runtime_dir, std::move(*catalog), seed).run();
  ::_exit(0);
}

}  // namespace iceblink::stress
