// What holds of every commit that is applied, whatever it asks for.
//
//  - It ends, with metadata or with an error of the client's.
//  - Metadata that is made is valid, all of it looked at, and is what NewMetadata says of it.
//  - It goes on from its base: the same uuid, no lower format, numbers that only grow, the base's
//    file at the end of the metadata-log. A commit of nothing to it changes nothing.
#pragma once

#include "iceberg/commit/commit_request.h"

namespace iceblink::test {

/// Each ends the process where one of them does not hold. A commit is applied as it is, without its
/// requirements, and without the updates that are refused; to a table of each format, and to none.
void check_applied(const iceberg::TableCommit& commit);
void check_applied(const iceberg::ViewCommit& commit);
void check_created(const iceberg::TableCreationRequest& request);
void check_created(const iceberg::ViewCreationRequest& request);

}  // namespace iceblink::test
