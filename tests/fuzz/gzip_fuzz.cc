// Inflating: any bytes; and what was deflated, in members, whole and damaged.
#include <libdeflate.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "iceberg/gzip.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

constexpr std::size_t kInflatedBytesMax = 1 << 16;

struct CompressorFree {
  void operator()(libdeflate_compressor* compressor) const noexcept {
    libdeflate_free_compressor(compressor);
  }
};

/// Made once for each level: they are large.
libdeflate_compressor* compressor_of(int level) {
  static std::array<std::unique_ptr<libdeflate_compressor, CompressorFree>, 10> compressors;
  auto& compressor = compressors.at(static_cast<std::size_t>(level));
  if (compressor == nullptr) compressor.reset(libdeflate_alloc_compressor(level));
  return compressor.get();
}

std::string deflated(std::string_view text, int level) {
  libdeflate_compressor* const compressor = compressor_of(level);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  return out;
}

void check_any(std::string_view bytes) {
  const auto inflated = iceberg::inflate_gzip(std::as_bytes(std::span(bytes)), kInflatedBytesMax);
  if (inflated) {
    fuzz_check(inflated->size() <= kInflatedBytesMax, "no more than the limit");
    return;
  }
  const auto kind = inflated.error().kind();
  fuzz_check(kind == ErrorKind::kInvalidArgument || kind == ErrorKind::kTooLarge,
             "an error is of a kind that is promised", to_string(kind));
}

/// The first byte says how many members, at which level, and where one byte is changed.
void check_deflated(std::uint8_t choice, std::string_view text) {
  const int level = 1 + choice % 9;
  const std::size_t member_count = 1 + choice / 16 % 4;
  const std::size_t part = text.size() / member_count + 1;
  std::string members;
  for (std::size_t begin = 0; begin < text.size() || members.empty(); begin += part) {
    members += deflated(text.substr(begin, part), level);
  }
  const auto bytes = std::as_bytes(std::span(members));
  const auto inflated = iceberg::inflate_gzip(bytes, kInflatedBytesMax);
  fuzz_check(inflated && inflated->view() == text, "inflates what was deflated");
  const auto exact = iceberg::inflate_gzip(bytes, text.size());
  fuzz_check(exact && exact->view() == text, "a limit may be reached");
  if (!text.empty()) {
    const auto over = iceberg::inflate_gzip(bytes, text.size() - 1);
    fuzz_check(!over && over.error().kind() == ErrorKind::kTooLarge, "a limit holds");
  }
  const auto cut = iceberg::inflate_gzip(bytes.first(bytes.size() - 1), kInflatedBytesMax);
  fuzz_check(!cut, "what is cut short is refused");
  members[(choice * std::size_t{7919}) % members.size()] ^= static_cast<char>(1 + choice % 255);
  const auto damaged = iceberg::inflate_gzip(std::as_bytes(std::span(members)), kInflatedBytesMax);
  fuzz_check(!damaged || damaged->view() == text, "damage to the data is noticed");
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  iceblink::test::check_any(bytes);
  if (size > 0 && size <= 1 << 14) iceblink::test::check_deflated(data[0], bytes.substr(1));
  return 0;
}
