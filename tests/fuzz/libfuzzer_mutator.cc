// Has libFuzzer change JSON by its structure in half of the cases.
#include <algorithm>
#include <random>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/json_mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t bytes_max);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t bytes_max, unsigned seed);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t bytes_max, unsigned seed) {
  using iceblink::test::FuzzedText;
  std::minstd_rand random(seed);
  if (iceblink::test::kFuzzedText == FuzzedText::kBytes || random() % 2 == 0) {
    return LLVMFuzzerMutate(data, size, bytes_max);
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string mutated = iceblink::test::mutate_json(text, bytes_max, random);
  std::copy(mutated.begin(), mutated.end(), data);
  return mutated.size();
}
