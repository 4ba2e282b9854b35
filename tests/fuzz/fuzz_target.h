// A fuzz target: what libFuzzer calls, and what replay.cc does where there is no libFuzzer.
//
// A target is one program: one .cc that defines LLVMFuzzerTestOneInput and kFuzzedText.
#pragma once

#include <cstddef>
#include <cstdint>

namespace iceblink::test {

enum class FuzzedText : std::uint8_t { kJson, kBytes };

/// How inputs of this target are changed.
extern const FuzzedText kFuzzedText;

}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
