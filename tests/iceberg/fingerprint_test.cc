#include "iceberg/fingerprint.h"

#include <gmock/gmock.h>

#include <span>
#include <string_view>

#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

std::string fingerprint_hex(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : fingerprint_of(std::as_bytes(std::span(text)))) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

TEST(Fingerprint, IsXxh128InTheFormOfItsOwnTools) {
  // As `xxhsum -H2` prints them.
  EXPECT_EQ(fingerprint_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(fingerprint_hex("iceblink"), "c8dab165e9e6fd55e173388b198e0412");
}

TEST(Fingerprint, DiffersByOneByte) {
  EXPECT_NE(fingerprint_hex("a"), fingerprint_hex("b"));
  EXPECT_NE(fingerprint_hex(std::string_view("a\0", 2)), fingerprint_hex("a"));
}

TEST(Uuid, ReadsAndWritesTheUsualForm) {
  const char* const text = "9c12d441-03fe-4693-9a96-a0705ddf69c1";
  const auto uuid = parse_uuid(text);
  ASSERT_TRUE(uuid);
  EXPECT_EQ((*uuid)[0], 0x9c);
  EXPECT_EQ((*uuid)[15], 0xc1);
  EXPECT_EQ(format_uuid(*uuid), text);
  EXPECT_EQ(parse_uuid("9C12D441-03FE-4693-9A96-A0705DDF69C1"), uuid);
}

TEST(Uuid, RefusesOtherForms) {
  for (const char* text :
       {"", "9c12d441", "9c12d44103fe46939a96a0705ddf69c1", "9c12d441-03fe-4693-9a96-a0705ddf69c",
        "9c12d441-03fe-4693-9a96-a0705ddf69c12", "9c12d441x03fe-4693-9a96-a0705ddf69c1",
        "9c12d441-03fe-4693-9a96-a0705ddf69cg", "{9c12d441-03fe-4693-9a96-a0705ddf69c}"}) {
    EXPECT_FALSE(parse_uuid(text)) << text;
  }
}

}  // namespace
}  // namespace iceblink::iceberg
