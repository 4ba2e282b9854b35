// What holds for every metadata file, whatever its bytes.
//
//  - Reading ends, with a document or with an error of the kinds that are promised.
//  - A document that is accepted with all of its lazy parts is JSON, by another parser's judgement;
//    check_metadata finds no problem with it, and finds one with every other.
//  - What its model promises to be there is there: the current schema, the snapshots of refs …
//  - Written and read again it has the same values, and written once more the same text.
//  - Its weight is what it was at load and what its observer was told of.
#pragma once

#include <cstdint>
#include <span>

namespace iceblink::test {

enum class ReadAs : std::uint8_t { kEither, kTable, kView };

/// Ends the process where one of them does not hold.
void check_document_rules(std::span<const std::uint8_t> file, ReadAs read_as);

}  // namespace iceblink::test
