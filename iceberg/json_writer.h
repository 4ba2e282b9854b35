// Writes one JSON text (RFC 8259), compact, from the front to the back.
//
// The caller opens and closes what belongs together, and names each member of an object; commas are
// set here. Strings are UTF-8. Throws std::bad_alloc.
//
// Thread safety: belongs to one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace iceblink::iceberg {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  /// The name of the member whose value is written next.
  void key(std::string_view name);

  void string(std::string_view text);
  void integer(std::int64_t value);
  void boolean(bool value) { word(value ? "true" : "false"); }
  void null() { word("null"); }
  /// A value that is JSON already. The space between its tokens is left out.
  void raw(std::string_view json);

  // A member of the object that is open.
  void string(std::string_view name, std::string_view text) {
    key(name);
    string(text);
  }
  void integer(std::string_view name, std::int64_t value) {
    key(name);
    integer(value);
  }
  void boolean(std::string_view name, bool value) {
    key(name);
    boolean(value);
  }
  void begin_object(std::string_view name) {
    key(name);
    begin_object();
  }
  void begin_array(std::string_view name) {
    key(name);
    begin_array();
  }

  /// How many objects and arrays lie within each other at the deepest place so far.
  [[nodiscard]] std::size_t deepest() const noexcept { return deepest_; }
  /// The text. Nothing is to be written afterwards.
  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

 private:
  void before_value() {
    if (follows_value_) text_ += ',';
    follows_value_ = true;
  }
  void enter() noexcept { deepest_ = std::max(deepest_, ++depth_); }
  void open(char bracket) {
    before_value();
    text_ += bracket;
    enter();
    follows_value_ = false;
  }
  void close(char bracket) {
    text_ += bracket;
    --depth_;
    follows_value_ = true;
  }
  void word(std::string_view text) {
    before_value();
    text_ += text;
  }
  void append_quoted(std::string_view text);

  std::string text_;
  std::size_t depth_ = 0;
  std::size_t deepest_ = 0;
  bool follows_value_ = false;  // within the same object or array
};

}  // namespace iceblink::iceberg
