#include "shm/key.h"

#include <gtest/gtest.h>
#include <iceblink/identifier.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>

#include "shm/layout.h"

namespace iceblink::shm {
namespace {

TableKey key_of(const TableIdent& ident) {
  return {ident.levels, ident.name};
}

TEST(Key, PartsAndEncodedBytesHashAlike) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    TableIdent ident;
    const auto text = [&] {
      std::string part(1 + random() % 40, 'x');
      for (auto& c : part) c = static_cast<char>('a' + random() % 26);
      return part;
    };
    for (std::uint64_t level = 0; level <= random() % 4; ++level) ident.levels.push_back(text());
    ident.name = text();
    const std::string encoded = encode(ident);
    const std::uint64_t seed = random();
    ASSERT_EQ(key_of(ident).hash(seed), EncodedKey{encoded}.hash(seed));
    ASSERT_EQ(key_of(ident).size(), encoded.size());
    ASSERT_TRUE(key_of(ident).equals(encoded.data()));
    ASSERT_EQ(hash_levels(ident.levels, seed), hash_encoded(encode(ident.levels), seed));
    ASSERT_EQ(parent_of(encoded), encode(ident.levels));
    ASSERT_EQ(leaf_of(encoded), ident.name);
  }
}

TEST(Key, AnyChangedByteIsUnequal) {
  const TableIdent ident{{"analytics", "web"}, "events_with_a_long_name"};
  const std::string encoded = encode(ident);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    std::string other = encoded;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(key_of(ident).equals(other.data())) << i;
    EXPECT_FALSE(EncodedKey{encoded}.equals(other.data())) << i;
  }
}

TEST(Key, EqualBytesAgreesWithMemcmpAtEverySize) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string a(size, 'q');
    EXPECT_TRUE(key_internal::equal_bytes(a.data(), std::string(a).data(), size)) << size;
    for (std::size_t i = 0; i < size; ++i) {
      std::string b = a;
      b[i] = 'r';
      EXPECT_FALSE(key_internal::equal_bytes(a.data(), b.data(), size)) << size << " " << i;
    }
  }
}

TEST(Key, NamespaceAndTableOfTheSamePartsDiffer) {
  EXPECT_NE(hash_levels(Namespace{"a", "b"}, 5), key_of({{"a"}, "b"}).hash(5));
  EXPECT_NE(hash_levels(Namespace{"a", "b"}, 5), hash_levels(Namespace{"b", "a"}, 5));
  EXPECT_NE(hash_levels(Namespace{"ab"}, 5), hash_levels(Namespace{"a", "b"}, 5));
}

TEST(Key, EveryBitOfAPartChangesAboutHalfOfTheHash) {
  std::mt19937_64 random(3);
  for (const std::size_t size :
       {1U, 2U, 3U, 4U, 7U, 8U, 9U, 15U, 16U, 17U, 23U, 24U, 31U, 33U, 64U}) {
    std::uint64_t flipped_bits = 0;
    std::uint64_t trials = 0;
    for (int round = 0; round < 64; ++round) {
      std::string name(size, ' ');
      for (auto& c : name) c = static_cast<char>(random());
      const std::uint64_t seed = random();
      const std::uint64_t before = hash_name_below(seed, name, seed);
      for (std::size_t bit = 0; bit < 8 * size; ++bit) {
        std::string other = name;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
        const int changed = std::popcount(before ^ hash_name_below(seed, other, seed));
        ASSERT_GE(changed, 8) << size << " bytes, bit " << bit;
        flipped_bits += static_cast<std::uint64_t>(changed);
        ++trials;
      }
    }
    const double mean = static_cast<double>(flipped_bits) / static_cast<double>(trials);
    EXPECT_NEAR(mean, 32, 1) << size;
  }
}

TEST(Key, AMillionStructuredNamesDoNotCollide) {
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 1'000'000; ++i) {
    const TableIdent ident{{"db" + std::to_string(i / 1000)}, "t_" + std::to_string(i % 1000)};
    hashes.push_back(key_of(ident).hash(7));
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
}

TEST(Key, HashesSpreadOverHomeSlotsAndTags) {
  std::set<std::uint64_t> hashes;
  std::vector<int> per_slot(1024);
  std::vector<int> per_tag(65536);
  for (int i = 0; i < 65536; ++i) {
    const TableIdent ident{{"namespace"}, "table_" + std::to_string(i)};
    const auto hash = key_of(ident).hash(42);
    hashes.insert(hash);
    ++per_slot[home_slot(hash, per_slot.size())];
    ++per_tag[tag_of(hash)];
  }
  EXPECT_EQ(hashes.size(), 65536U);
  // 64 a slot and 1 a tag expected; these bounds are ten standard deviations away.
  EXPECT_LT(*std::max_element(per_slot.begin(), per_slot.end()), 64 + 80);
  EXPECT_GT(*std::min_element(per_slot.begin(), per_slot.end()), 4);
  EXPECT_LT(*std::max_element(per_tag.begin(), per_tag.end()), 16);
}

}  // namespace
}  // namespace iceblink::shm
