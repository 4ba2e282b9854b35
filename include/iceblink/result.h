// Result<T>: a value or an Error. Nothing in iceblink throws through its public API.
//
// Thread safety: values; distinct objects may be used from distinct threads. An Error may be copied
// freely (single-flight loads hand one error to many waiters).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace iceblink {

/// What went wrong, as a program wants to know it. The message says what it happened to.
enum class ErrorKind : std::uint8_t {
  kInvalidArgument,  ///< the caller's input is wrong (identifier, location, option)
  kNotFound,         ///< the namespace, table, view or file does not exist
  kAlreadyExists,    ///< the name is taken
  kNotEmpty,         ///< the namespace still holds tables, views or namespaces
  kConflict,         ///< a compare-and-swap lost: the pointer is not what was expected
  kGone,             ///< the generation asked for is no longer (or not yet) known
  kNoSegment,        ///< no control page or arena at the runtime directory
  kIncompatible,     ///< another layout version, byte order or feature set
  kCorrupt,          ///< bytes in the segment or in a file contradict themselves
  kNoDaemon,         ///< nobody answers on the socket
  kTimedOut,         ///< a deadline passed before anything was sent or found
  kStateUnknown,     ///< a write was sent and no answer came: it may or may not have happened
  kNotAllowed,       ///< refused by permissions
  kNoSpace,          ///< tmpfs or disk full; nothing was changed
  kTooLarge,         ///< over a limit
  kBusy,             ///< refused early because of load; nothing was changed, try again
  kUnsupported,      ///< understood, and not served
  kOutOfMemory,
  kIo,  ///< a system call failed; the message has path and errno
  kInternal,
};

/// The kind's name in lower snake case, e.g. "state_unknown". Static storage.
[[nodiscard]] constexpr std::string_view to_string(ErrorKind kind) noexcept {
  constexpr std::string_view kNames[] = {"invalid_argument",
                                         "not_found",
                                         "already_exists",
                                         "not_empty",
                                         "conflict",
                                         "gone",
                                         "no_segment",
                                         "incompatible",
                                         "corrupt",
                                         "no_daemon",
                                         "timed_out",
                                         "state_unknown",
                                         "not_allowed",
                                         "no_space",
                                         "too_large",
                                         "busy",
                                         "unsupported",
                                         "out_of_memory",
                                         "io",
                                         "internal"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// An error: kind and message. Copying shares the message; never throws.
class [[nodiscard]] Error {
 public:
  /// Falls back to kOutOfMemory when the message cannot be stored.
  Error(ErrorKind kind, std::string message) noexcept {
    try {
      payload_ = std::make_shared<const Payload>(Payload{kind, std::move(message)});
    } catch (const std::bad_alloc&) {
      payload_ = out_of_memory();
    }
  }

  /// The same for a message that would have to be allocated first, by a caller that must not throw.
  Error(ErrorKind kind, std::initializer_list<std::string_view> message_parts) noexcept {
    try {
      std::string message;
      for (const auto part : message_parts) message += part;
      payload_ = std::make_shared<const Payload>(Payload{kind, std::move(message)});
    } catch (const std::bad_alloc&) {
      payload_ = out_of_memory();
    }
  }

  [[nodiscard]] ErrorKind kind() const noexcept { return payload_->kind; }
  [[nodiscard]] const std::string& message() const noexcept { return payload_->message; }

 private:
  template <typename T>
  friend class Result;

  struct Payload {
    ErrorKind kind;
    std::string message;
  };

  Error() noexcept = default;  // "no error", inside Result only
  static std::shared_ptr<const Payload> out_of_memory() noexcept {
    static const Payload payload{ErrorKind::kOutOfMemory, "out of memory"};
    return {std::shared_ptr<const void>{}, &payload};  // aliasing, no control block, no allocation
  }

  std::shared_ptr<const Payload> payload_;
};

/// A T or an Error. Reading the wrong one is a bug and undefined.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) noexcept(
      std::is_nothrow_move_constructible_v<T>)  // NOLINT(google-explicit-constructor)
      : value_(std::move(value)) {}
  Result(Error error) noexcept : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result(ErrorKind kind, std::string message) noexcept : error_(kind, std::move(message)) {}

  // The error is copied, not moved: without it, `other` would pass for a value.
  // NOLINTNEXTLINE(performance-move-constructor-init)
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : error_(other.error_) {
    if (ok()) std::construct_at(&value_, std::move(other.value_));
  }
  Result(const Result& other) : error_(other.error_) {
    if (ok()) std::construct_at(&value_, other.value_);
  }
  Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this != &other) {
      this->~Result();
      std::construct_at(this, std::move(other));
    }
    return *this;
  }
  ~Result() {
    if (ok()) std::destroy_at(&value_);
  }

  [[nodiscard]] bool ok() const noexcept { return error_.payload_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & noexcept { return value_; }
  [[nodiscard]] const T& value() const& noexcept { return value_; }
  [[nodiscard]] T&& value() && noexcept { return std::move(value_); }
  [[nodiscard]] T& operator*() & noexcept { return value_; }
  [[nodiscard]] const T& operator*() const& noexcept { return value_; }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(value_); }
  [[nodiscard]] T* operator->() noexcept { return &value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &value_; }

  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  union {
    T value_;
  };
  Error error_;
};

/// Success without a value, or an Error.
struct Ok {};
using Status = Result<Ok>;

}  // namespace iceblink

/// Returns the error of `expression` to the caller, if it has one.
#define ICEBLINK_RETURN_IF_ERROR(expression)                         \
  do {                                                               \
    if (auto&& iceblink_status_ = (expression); !iceblink_status_) { \
      return iceblink_status_.error();                               \
    }                                                                \
  } while (false)

#define ICEBLINK_CONCAT_INNER_(a, b) a##b
#define ICEBLINK_CONCAT_(a, b) ICEBLINK_CONCAT_INNER_(a, b)
/// `ICEBLINK_ASSIGN_OR_RETURN(auto x, expression);` binds the value or returns the error.
#define ICEBLINK_ASSIGN_OR_RETURN(declaration, expression) \
  ICEBLINK_ASSIGN_OR_RETURN_(ICEBLINK_CONCAT_(iceblink_result_, __LINE__), declaration, expression)
#define ICEBLINK_ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                                       \
  if (!result) return result.error();                               \
  declaration = std::move(result).value()
