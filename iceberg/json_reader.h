// Walks over a JSON text (RFC 8259) whose tokens simdjson has found, without building a tree.
//
// simdjson's first stage checks UTF-8, control characters and the ends of strings, and lists where
// tokens begin; this reads the values behind them, and checks the grammar of all that it is asked
// to read. What it is asked to pass over (skip_raw) it only balances: who keeps such a part reads
// it later. Strings are views into the text; those with escapes are resolved into the arena.
//
// Problems are collected with their path. Of the JSON itself, the first one ends the reading; of
// the content, the reader goes on when all are wanted, and stops at the first otherwise. After a
// problem values are unspecified, and everything still ends.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/arena.h"
#include "iceberg/json_tokens.h"
#include "iceberg/metadata_parser.h"

namespace iceblink::iceberg {

/// True where `key` is that literal; the comparison is inlined.
template <std::size_t N>
[[nodiscard]] inline bool is(std::string_view key, const char (&literal)[N]) noexcept {
  return key.size() == N - 1 && std::memcmp(key.data(), literal, N - 1) == 0;
}

class JsonReader {
 public:
  enum class Wanted : std::uint8_t { kFirstProblem, kAllProblems };

  /// `tokens` are those of `text`; both outlive the reader, as do arena and problems.
  JsonReader(std::string_view text, const JsonTokens& tokens, const MetadataLimits& limits,
             Arena& arena, Wanted wanted, std::vector<MetadataProblem>& problems);

  // ---- State.

  /// False: nothing more is to be read.
  [[nodiscard]] bool goes_on() const noexcept { return !stopped_; }
  [[nodiscard]] bool wants_all() const noexcept { return wanted_ == Wanted::kAllProblems; }
  [[nodiscard]] Arena& arena() const noexcept { return arena_; }
  [[nodiscard]] const MetadataLimits& limits() const noexcept { return limits_; }
  /// The kind that the first problem has as an error.
  [[nodiscard]] ErrorKind error_kind() const noexcept { return error_kind_; }

  [[nodiscard]] std::size_t problem_count() const noexcept { return problems_.size(); }

  /// Something is wrong with the value that was read last (or is being read), or with its member
  /// `member`. What is long is cut, here and in paths.
  void report(std::string_view what, std::string_view member = {});
  /// As report, where the document is beyond a limit or unknown to us: stops.
  void refuse(ErrorKind kind, std::string_view what, std::string_view member = {});

  // ---- Places. A cursor stands in front of a value.

  using Place = const std::uint32_t*;
  [[nodiscard]] Place place() const noexcept { return next_; }
  void go_to(Place place) noexcept { next_ = place; }
  /// The offset in the text of a place.
  [[nodiscard]] std::size_t offset() const noexcept { return *next_; }
  /// Of the end of what was passed over last.
  [[nodiscard]] std::size_t end_offset() const noexcept { return end_of(next_ - 1); }

  // ---- Values.

  [[nodiscard]] char peek() const noexcept { return next_ < end_ ? text_[*next_] : '\0'; }
  /// Passes over a null.
  bool take_null();
  [[nodiscard]] bool at_null() const noexcept { return peek() == 'n'; }
  [[nodiscard]] std::int64_t read_int64();
  [[nodiscard]] std::int32_t read_int32();
  [[nodiscard]] bool read_bool();
  [[nodiscard]] std::string_view read_string();
  /// Reports one that is empty.
  [[nodiscard]] std::string_view read_filled_string();
  /// A string; numbers and booleans as they are written. For maps of strings that some wrote so.
  [[nodiscard]] std::string_view read_text();
  /// The text of any value, checked.
  [[nodiscard]] std::string_view read_raw();

  /// Calls `on_member(key)` before each value, which it has to read or to skip.
  template <typename OnMember>
  void read_object(OnMember&& on_member);
  /// False: what read_object was to read last was none, which has been reported.
  [[nodiscard]] bool has_read_object() const noexcept { return has_read_object_; }
  /// Calls `on_element()` before each value, which it has to read or to skip.
  template <typename OnElement>
  void read_array(OnElement&& on_element);

  /// Passes over a value and checks its grammar.
  void skip();
  /// Passes over a value and looks at brackets alone.
  void skip_raw();
  /// Behind a value of an object: passes over what else is in the object, and looks at brackets
  /// alone.
  void skip_raw_to_end();

  /// Behind the document's value there is nothing.
  void expect_end();

  // ---- Paths, for who reads a part of a document apart.

  /// A step on the way from the document to the current value.
  struct Step {
    const Step* parent = nullptr;
    std::string_view key;   // of an object's member
    std::size_t index = 0;  // of an array's element
    bool is_array = false;
  };
  /// What is read from here on stands at `step` of its document, which outlives the reading; null:
  /// it is the document.
  void set_origin(const Step* step) noexcept {
    path_ = step;
    for (depth_ = 0; step != nullptr; step = step->parent) ++depth_;
  }
  /// The text begins that far into the document's.
  void set_text_offset(std::size_t bytes) noexcept { text_offset_ = bytes; }

  /// Tells whether what has been read since it was made is in order: what is not makes no sense to
  /// compare.
  class Watch {
   public:
    explicit Watch(const JsonReader& reader) noexcept
        : reader_(reader), problem_count_(reader.problem_count()) {}
    [[nodiscard]] bool all_is_well() const noexcept {
      return reader_.goes_on() && reader_.problem_count() == problem_count_ &&
             !(reader_.lenient_ > 0 && reader_.lenient_failed_);
    }

   private:
    const JsonReader& reader_;
    const std::size_t problem_count_;
  };

  /// While it lives, problems are dropped and do not stop the reading: for parts that readers may
  /// ignore. Of the JSON's grammar they count all the same.
  class Lenient {
   public:
    explicit Lenient(JsonReader& reader) noexcept : reader_(reader) {
      ++reader_.lenient_;
      reader_.lenient_failed_ = false;
    }
    ~Lenient() { --reader_.lenient_; }
    Lenient(const Lenient&) = delete;
    Lenient& operator=(const Lenient&) = delete;
    [[nodiscard]] bool failed() const noexcept { return reader_.lenient_failed_; }

   private:
    JsonReader& reader_;
  };

 private:
  [[nodiscard]] std::size_t end_of(Place place) const noexcept {
    std::size_t end = place[1];
    while (is_space(text_[end - 1])) --end;
    return end;
  }
  [[nodiscard]] static bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
  }
  /// The text of the scalar here, passed over.
  [[nodiscard]] std::string_view take_scalar() noexcept {
    const std::size_t begin = *next_;
    const std::size_t end = end_of(next_);
    ++next_;
    return text_.substr(begin, end - begin);
  }
  [[nodiscard]] std::string_view take_string() {
    const std::string_view quoted = take_scalar();
    if (quoted.size() < 2 || quoted.back() != '"') return bad_string();
    const std::string_view content = quoted.substr(1, quoted.size() - 2);
    if (has_escapes_ && content.find('\\') != std::string_view::npos) return unescaped(quoted);
    return content;
  }
  [[nodiscard]] std::string_view bad_string();
  [[nodiscard]] std::string_view unescaped(std::string_view quoted);

  /// The first token from `at` on behind which brackets are balanced, given how deep it is.
  [[nodiscard]] Place find_closing(Place at, std::int64_t depth) const noexcept;
  void broken(std::string what);  // the JSON is, here
  void broken_at(Place place, std::string what);
  bool expect(const char* wanted, bool fits);
  void skip_wrong(const char* wanted);
  void check_scalar(std::string_view text);
  [[nodiscard]] bool enter(char bracket, const char* wanted);
  [[nodiscard]] bool at_end_of(char bracket);
  [[nodiscard]] bool goes_on_after(std::size_t count, char bracket);
  [[nodiscard]] std::string_view read_key();
  [[nodiscard]] std::string path(std::string_view member) const;

  const std::string_view text_;
  const MetadataLimits& limits_;
  Arena& arena_;
  const Wanted wanted_;
  std::vector<MetadataProblem>& problems_;

  Place next_;
  const Place end_;
  const bool has_escapes_;
  bool stopped_ = false;
  bool has_read_object_ = false;
  bool lenient_failed_ = false;
  int lenient_ = 0;
  ErrorKind error_kind_ = ErrorKind::kCorrupt;
  std::size_t depth_ = 0;
  std::size_t text_offset_ = 0;
  const Step* path_ = nullptr;
};

template <typename OnMember>
void JsonReader::read_object(OnMember&& on_member) {
  has_read_object_ = false;
  if (!enter('{', "an object")) return;
  Step step;
  step.parent = path_;
  path_ = &step;
  if (!at_end_of('}')) {
    std::size_t count = 0;
    do {
      step.key = read_key();
      if (stopped_) break;
      on_member(step.key);
    } while (goes_on_after(++count, '}'));
  }
  has_read_object_ = true;
  path_ = step.parent;
  --depth_;
}

template <typename OnElement>
void JsonReader::read_array(OnElement&& on_element) {
  if (!enter('[', "an array")) return;
  Step step;
  step.parent = path_;
  step.is_array = true;
  path_ = &step;
  if (!at_end_of(']')) {
    do {
      on_element();
    } while (goes_on_after(++step.index, ']'));
  }
  path_ = step.parent;
  --depth_;
}

}  // namespace iceblink::iceberg
