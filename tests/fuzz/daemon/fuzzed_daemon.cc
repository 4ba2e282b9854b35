#include "tests/fuzz/daemon/fuzzed_daemon.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <system_error>

#include "tests/fuzz/fuzz_check.h"

namespace iceblink::test {
namespace {

constexpr timeval kPatience{20, 0};
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

constexpr std::string_view kTable = R"({"format-version":2,
"table-uuid":"00000000-0000-4000-8000-000000000001","location":"file:///none/t",
"last-sequence-number":0,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,
"schemas":[{"type":"struct","schema-id":0,"fields":[
{"id":1,"name":"id","required":true,"type":"long"}]}],"default-spec-id":0,
"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,
"sort-orders":[{"order-id":0,"fields":[]}],"properties":{}})";

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\t' || (c >= ' ' && c != '\x7f'); });
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::string_view take_line(std::string_view& bytes) {
  const auto end = bytes.find("\r\n");
  fuzz_check(end != std::string_view::npos, "a line of an answer's head ends", bytes);
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  return line;
}

unsigned take_status(std::string_view& bytes) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  const std::string_view line = take_line(bytes);
  unsigned status = 0;
  const bool is_status_line = line.starts_with(kVersion) && line.size() > kVersion.size() + 4;
  fuzz_check(is_status_line && is_visible(line), "an answer begins with a status line", line);
  std::from_chars(line.data() + kVersion.size(), line.data() + kVersion.size() + 3, status);
  fuzz_check(status >= 100 && status < 600, "a status is one", line);
  return status;
}

std::vector<std::string> take_fields(std::string_view& bytes) {
  std::vector<std::string> fields;
  for (auto line = take_line(bytes); !line.empty(); line = take_line(bytes)) {
    const auto colon = line.find(": ");
    fuzz_check(
        colon != std::string_view::npos && is_token(line.substr(0, colon)) && is_visible(line),
        "a field of an answer is one", line);
    fields.push_back(lower(std::string(line.substr(0, colon))) + std::string(line.substr(colon)));
  }
  return fields;
}

}  // namespace

std::string Answer::field(std::string_view name) const {
  for (const auto& field : fields) {
    if (field.size() > name.size() + 2 && field.starts_with(name) && field[name.size()] == ':') {
      return field.substr(name.size() + 2);
    }
  }
  return {};
}

FuzzedDaemon::FuzzedDaemon() {
  spdlog::set_level(spdlog::level::off);
  renew();
}

void FuzzedDaemon::renew() {
  instance_.reset();
  scratch_.clear();
  daemon::Settings settings;
  settings.runtime_dir = scratch_.path() + "/main";
  settings.data_dir = scratch_.path() + "/data";
  settings.instance = "main";
  settings.warehouse = "file://" + scratch_.path() + "/warehouse";
  settings.write_roots = {scratch_.path()};
  settings.read_roots = {scratch_.path()};
  settings.map_bytes = std::uint64_t{64} << 20;
  settings.body_bytes_max = kBodyBytesMax;
  settings.http_threads = 1;
  settings.file_threads = 1;
  settings.commit_threads = 2;
  auto started = daemon::Instance::start(settings);
  fuzz_check(started.ok(), "a daemon starts", started.ok() ? "" : started.error().message());
  instance_ = std::move(*started);
  table_file_ = scratch_.path() + "/t.metadata.json";
  std::ofstream(table_file_, std::ios::binary) << kTable;
}

std::string FuzzedDaemon::talk(std::string_view bytes) const {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  fuzz_check(fd >= 0, "a socket is made");
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = instance_->socket_path();
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int failed = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  fuzz_check(failed == 0, "a connection is made", path);
  // Who was refused may be cut off while still sending.
  while (!bytes.empty()) {
    const auto count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;  // libFuzzer has a timer
    if (count <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  ::shutdown(fd, SHUT_WR);
  std::string answers;
  std::array<char, 1 << 16> part;
  while (true) {
    const auto count = ::recv(fd, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    fuzz_check(count >= 0, "every answer comes in time, and the connection ends",
               std::generic_category().message(errno));
    if (count == 0) break;
    answers.append(part.data(), static_cast<std::size_t>(count));
    fuzz_check(answers.size() <= kAnswerBytesMax, "answers end");
  }
  ::close(fd);
  return answers;
}

std::optional<Answer> take_answer(std::string_view& bytes, bool to_head) {
  while (!bytes.empty()) {
    Answer answer;
    answer.status = take_status(bytes);
    answer.fields = take_fields(bytes);
    if (answer.status < 200) continue;
    const bool has_body = !to_head && answer.status != 204 && answer.status != 304;
    const std::string length_text = answer.field("content-length");
    if (!has_body) return answer;
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(length_text.data(), length_text.data() + length_text.size(), length);
    fuzz_check(error == std::errc{} && end == length_text.data() + length_text.size(),
               "an answer says how long its body is", length_text);
    fuzz_check(length <= bytes.size(), "an answer's body is as long as it says", length_text);
    answer.body = std::string(bytes.substr(0, length));
    bytes.remove_prefix(length);
    return answer;
  }
  return std::nullopt;
}

void check_answer(const Answer& answer, bool to_head) {
  fuzz_check(answer.status != 500 || answer.body.find("This was done, ") != std::string::npos,
             "nothing goes wrong inside", answer.body);
  if (answer.status < 400 || to_head) return;
  boost::system::error_code error;
  const auto body = boost::json::parse(answer.body, error);
  fuzz_check(!error && body.is_object(), "an error is JSON", answer.body);
  const auto* const member = body.get_object().if_contains("error");
  fuzz_check(member != nullptr && member->is_object(), "an error is one of Iceberg's", answer.body);
  const auto& object = member->get_object();
  const auto* const message = object.if_contains("message");
  const auto* const code = object.if_contains("code");
  fuzz_check(message != nullptr && message->is_string() && !message->get_string().empty(),
             "an error says something", answer.body);
  fuzz_check(code != nullptr && code->is_int64() && code->get_int64() == answer.status,
             "an error has its status", answer.body);
}

}  // namespace iceblink::test
