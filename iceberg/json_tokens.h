// Where the tokens of a JSON text begin, as simdjson's first stage finds them.
//
// This is the one place that knows simdjson's parser implementation, which its own two interfaces
// stand on: neither of those can leave a part of a document raw and still check the rest.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace iceblink::iceberg {

/// Where tokens begin, and memory for that which is used again.
class JsonTokens {
 public:
  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  /// kCorrupt, kOutOfMemory; the text must outlive the reading. At most 4 GiB.
  [[nodiscard]] Status find(std::string_view text);
  [[nodiscard]] const std::uint32_t* begin() const noexcept;
  /// Points at an entry that holds the text's size.
  [[nodiscard]] const std::uint32_t* end() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace iceblink::iceberg
