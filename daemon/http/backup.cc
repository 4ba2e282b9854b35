// POST /iceblink/v1/backup: a copy of the store, as it was in one generation.
//
// It shows all there is, properties too, and takes disk: so it is no GET, and needs the right to
// write.
#include "daemon/http/error_body.h"
#include "daemon/http/resources.h"
#include "daemon/log_event.h"

namespace iceblink::daemon::http {
namespace {

Response response_of(std::shared_ptr<const Backup> backup) {
  Response response;
  response.status = 200;
  response.content_type = kBytes;
  response.generation = backup->generation;
  response.checksum = "sha256=" + backup->sha256;
  response.file = {backup->file.get(), backup->bytes, std::move(backup)};
  return response;
}

}  // namespace

void make_backup(const ExchangePtr& exchange) {
  exchange->services().backups.make([exchange](Result<std::shared_ptr<const Backup>> backup) {
    exchange->guard([&] {
      if (!backup) return exchange->answer(error_response(backup.error()));
      Services& services = exchange->services();
      services.publisher.wait_published((*backup)->generation);
      log_event(level::info, "backup made",
                {{"generation", (*backup)->generation},
                 {"bytes", (*backup)->bytes},
                 {"id", exchange->request().id},
                 {"peer", exchange->caller().name}});
      exchange->answer(response_of(std::move(*backup)));
    });
  });
}

}  // namespace iceblink::daemon::http
