#include "client/cli/metadata_file.h"

#include <filesystem>
#include <system_error>

#include "client/file_reader.h"

namespace iceblink::cli {

Result<iceberg::ByteBuffer> read_metadata_file(const std::string& path,
                                               const MetadataLimits& limits) {
  std::error_code failed;
  const std::string absolute = std::filesystem::absolute(path, failed).string();
  if (path.empty() || failed)
    return Error{ErrorKind::kInvalidArgument, "'" + path + "' is no path"};
  FileOptions options;
  options.use_io_uring = false;  // for one file
  ICEBLINK_ASSIGN_OR_RETURN(const auto reader, client::FileReader::make(options));
  auto content = reader->read(absolute, limits.document_bytes_max);
  if (content) return content;
  const Error& error = content.error();
  if (error.kind() == ErrorKind::kNotFound) {
    return Error{ErrorKind::kNotFound, path + ": no such file"};
  }
  const bool names_it = error.message().starts_with(absolute);
  return Error{error.kind(), names_it ? path + error.message().substr(absolute.size())
                                      : path + ": " + error.message()};
}

bool is_meant_as_path(const std::string& argument) {
  std::error_code failed;
  if (std::filesystem::exists(argument, failed)) return true;
  return argument.find('/') != std::string::npos && !argument.starts_with('"');  // a quoted level
}

}  // namespace iceblink::cli
