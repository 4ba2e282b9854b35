#include "iceberg/gzip.h"

#include <gmock/gmock.h>
#include <libdeflate.h>

#include <span>
#include <string>
#include <vector>

namespace iceblink::iceberg {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string deflated(const std::string& text) {
  auto* const compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

TEST(Gzip, TakesMemoryAFewTimesForManyMembers) {
  std::string members;
  for (int i = 0; i < 10'000; ++i) members += deflated("ten bytes.");
  std::size_t times = 0;
  const TextBytesWanted wanted = [&](std::size_t, std::size_t) { ++times; };
  const auto text = inflate_gzip(bytes_of(members), kInflatedBytesMaxDefault, wanted);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->size(), 100'000U);
  EXPECT_LT(times, 40U);
}

TEST(Gzip, TellsOfMemoryBeforeItIsTaken) {
  struct Told {
    std::size_t bytes = 0;
    std::size_t text_bytes_min = 0;
  };
  std::vector<Told> told;
  const TextBytesWanted wanted = [&](std::size_t bytes, std::size_t text_bytes_min) {
    told.push_back({bytes, text_bytes_min});
  };
  const std::string text(100'000, 'x');
  const std::string one = deflated(text);
  ASSERT_TRUE(inflate_gzip(bytes_of(one), kInflatedBytesMaxDefault, wanted));
  ASSERT_EQ(told.size(), 1U) << "the trailer says it";
  EXPECT_EQ(told[0].bytes, text.size());
  EXPECT_EQ(told[0].text_bytes_min, text.size());
  told.clear();
  const std::string two = one + deflated("end");
  ASSERT_TRUE(inflate_gzip(bytes_of(two), kInflatedBytesMaxDefault, wanted));
  ASSERT_GT(told.size(), 1U) << "the trailer is that of the last member";
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_GT(told[i].bytes, told[i - 1].bytes);
  EXPECT_GE(told.back().bytes, text.size() + 3);
  EXPECT_LE(told.back().text_bytes_min, text.size() + 3);
}

TEST(Gzip, InflatesWhatItCompressed) {
  for (const std::string& text : {std::string(), std::string("x"), std::string(300'000, 'a')}) {
    const auto compressed = compress_gzip(text);
    ASSERT_TRUE(compressed);
    EXPECT_TRUE(is_gzip(bytes_of(*compressed)));
    EXPECT_EQ(inflate_gzip(bytes_of(*compressed))->view(), text);
  }
}

TEST(Gzip, InflatesOneMember) {
  for (const std::string& text : {std::string(), std::string("x"), std::string(3'000'000, 'a')}) {
    EXPECT_EQ(inflate_gzip(bytes_of(deflated(text)))->view(), text);
  }
}

TEST(Gzip, JoinsMembers) {
  const std::string members =
      deflated("abc") + deflated("") + deflated(std::string(100'000, 'x')) + deflated("end");
  EXPECT_EQ(inflate_gzip(bytes_of(members))->view(), "abc" + std::string(100'000, 'x') + "end");
}

TEST(Gzip, RefusesWhatIsCutShortAtAnyByte) {
  const std::string whole = deflated("a text that is long enough to be cut in many places");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    const auto text = inflate_gzip(bytes_of(cut));
    ASSERT_FALSE(text) << size;
    EXPECT_EQ(text.error().kind(), ErrorKind::kInvalidArgument) << size;
  }
}

TEST(Gzip, RefusesTrailingBytesAndDamage) {
  std::string damaged = deflated("some text");
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // its CRC
  EXPECT_EQ(inflate_gzip(bytes_of(damaged)).error().kind(), ErrorKind::kInvalidArgument);
  for (const std::string& tail :
       {std::string("x"), std::string(40, '\0'), std::string("\x1f\x8b")}) {
    EXPECT_EQ(inflate_gzip(bytes_of(deflated("text") + tail)).error().kind(),
              ErrorKind::kInvalidArgument);
  }
}

TEST(Gzip, HoldsItsLimitOverAllMembers) {
  const std::string one = deflated(std::string(1000, 'x'));
  EXPECT_TRUE(inflate_gzip(bytes_of(one), 1000));
  EXPECT_EQ(inflate_gzip(bytes_of(one), 999).error().kind(), ErrorKind::kTooLarge);
  EXPECT_TRUE(inflate_gzip(bytes_of(one + one), 2000));
  EXPECT_EQ(inflate_gzip(bytes_of(one + one), 1999).error().kind(), ErrorKind::kTooLarge);
}

TEST(Gzip, DoesNotBelieveTheSizeThatAFileClaims) {
  std::string lying = deflated("small");
  lying.replace(lying.size() - 4, 4, "\xff\xff\xff\x3f");
  EXPECT_EQ(inflate_gzip(bytes_of(lying)).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Gzip, IsKnownByItsFirstBytes) {
  EXPECT_TRUE(is_gzip(bytes_of(deflated(""))));
  EXPECT_FALSE(is_gzip(bytes_of("{}")));
  EXPECT_FALSE(is_gzip(bytes_of("\x1f")));
}

}  // namespace
}  // namespace iceblink::iceberg
