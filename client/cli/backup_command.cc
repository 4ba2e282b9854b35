// `iceblink backup`: a copy of the daemon's store, as of one generation, into a file.
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "client/cli/durable_file.h"
#include "client/cli/http_connection.h"
#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "client/wire.h"
#include "iceberg/sha256.h"
#include "shm/backup_trailer.h"
#include "shm/layout.h"

namespace iceblink::cli {
namespace {

/// The daemon makes the copy before it answers: a large store takes a while.
constexpr std::chrono::minutes kHeadTimeout{15};
constexpr std::size_t kRefusalBytesMax = std::size_t{1} << 20;
constexpr std::string_view kAlgorithm = "sha256=";

struct Backup {
  std::string path;
  bool force = false;
};

std::optional<std::uint64_t> number_of(const std::optional<std::string>& text) {
  std::uint64_t number = 0;
  if (!text) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text->data() + text->size()) return std::nullopt;
  return number;
}

/// The body of the answer on its way into the file.
class Download {
 public:
  explicit Download(DurableFile& file) : file_(file) {}

  HttpConnection::Sink begin(const HttpHead& head) {
    if (head.status != 200) return into(refusal_, kRefusalBytesMax, "the refusal");
    progress_.emplace("bytes", number_of(head.field("Content-Length")));
    return [this](std::string_view part) -> Status {
      sum_.add(part);
      bytes_ += part.size();
      progress_->show(bytes_);
      return file_.write(part);
    };
  }

  /// Whether what came is what was sent; then the file keeps its sum.
  Status finish(const HttpHead& head) {
    progress_.reset();
    const auto checksum = head.field("Iceblink-Checksum");
    if (!checksum || !checksum->starts_with(kAlgorithm)) {
      return {ErrorKind::kIncompatible, "the daemon sent no SHA-256 of the backup"};
    }
    const std::string sum = sum_.hex();
    if (checksum->substr(kAlgorithm.size()) != sum) {
      return {ErrorKind::kCorrupt, "the backup arrived damaged: its SHA-256 is not what was sent"};
    }
    return file_.write(std::string(shm::kBackupTrailerMagic) + sum);
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

 private:
  DurableFile& file_;
  iceberg::Sha256 sum_;
  std::uint64_t bytes_ = 0;
  std::string refusal_;
  std::optional<Progress> progress_;
};

Result<ExitCode> run_backup(const Invocation& invocation, const Backup& options) {
  using enum DurableFile::IfExists;
  const std::string socket = invocation.runtime_dir + "/" + shm::kSocketName;
  HttpTimeouts timeouts;
  timeouts.head = kHeadTimeout;
  ICEBLINK_ASSIGN_OR_RETURN(const auto connection, HttpConnection::open_unix(socket, timeouts));
  ICEBLINK_ASSIGN_OR_RETURN(DurableFile file,
                            DurableFile::create(options.path, options.force ? kReplace : kFail));
  Download download(file);
  const HttpRequest request{"POST", "/iceblink/v1/backup"};
  ICEBLINK_ASSIGN_OR_RETURN(
      const HttpHead head,
      connection->exchange(request, [&](const HttpHead& begun) { return download.begin(begun); }));
  if (head.status != 200) {
    const client::Answer answer{head.status, std::nullopt, download.refusal()};
    return client::error_of({.method = "POST", .target = request.target}, answer);
  }
  ICEBLINK_RETURN_IF_ERROR(download.finish(head));
  ICEBLINK_RETURN_IF_ERROR(file.commit());
  const std::uint64_t generation = number_of(head.field("Iceblink-Generation")).value_or(0);
  if (invocation.is_json()) {
    print_json(boost::json::object{{"generation", generation}, {"bytes", download.bytes()}});
  } else {
    print_line("backup of generation " + std::to_string(generation) + ", " +
               std::to_string(download.bytes()) + " bytes");
  }
  return ExitCode::kYes;
}

}  // namespace

void add_backup_command(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<Backup>();
  auto* const command = app.add_subcommand(
      "backup",
      "copy the catalog's store into a file while the daemon runs (see iceblinkd "
      "--restore)");
  command->add_option("FILE", options->path)->required();
  command->add_flag("--force", options->force, "replace the file if it is there");
  command->callback([&invocation, options] {
    invocation.run = [&invocation, options] { return run_backup(invocation, *options); };
  });
}

}  // namespace iceblink::cli
