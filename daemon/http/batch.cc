// Many operations in one request: JSON lines, one transaction, one generation, all or nothing.
#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/resources.h"
#include "daemon/http/table_register.h"

namespace iceblink::daemon::http {
namespace {

Response at_line(std::size_t line, RestError error, const std::string& message) {
  return error_response(error, "line " + std::to_string(line) + ": " + message);
}

Response at_line(std::size_t line, const Error& error) {
  return at_line(line, rest_error_of(Refused{Refusal::kNone, error, 0}), error.message());
}

/// One line, understood.
struct BatchLine {
  std::size_t number = 0;  // in the body, from 1
  Operation operation;
  Verification verification = Verification::kNone;
};

Result<ObjectKind> kind_member(const boost::json::object& body) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto kind, optional_string(body, "kind"));
  if (!kind || *kind == "table") return ObjectKind::kTable;
  if (*kind == "view") return ObjectKind::kView;
  return {ErrorKind::kInvalidArgument, "'kind' is '" + *kind + "', it must be table or view"};
}

Result<BatchLine> line_of(std::string_view text) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(text));
  ICEBLINK_ASSIGN_OR_RETURN(const std::string op, required_string(body, "op"));
  BatchLine line;
  if (op == "create-namespace") {
    CreateNamespace create;
    ICEBLINK_ASSIGN_OR_RETURN(create.levels, namespace_member(body));
    ICEBLINK_ASSIGN_OR_RETURN(create.properties, properties_member(body, "properties"));
    line.operation = std::move(create);
  } else if (op == "drop-namespace") {
    ICEBLINK_ASSIGN_OR_RETURN(Namespace levels, namespace_member(body));
    line.operation = DropNamespace{std::move(levels)};
  } else if (op == "register") {
    ICEBLINK_ASSIGN_OR_RETURN(TableIdent ident, table_ident_of(body));
    ICEBLINK_ASSIGN_OR_RETURN(RegisterRequest request, register_request_of(body, std::move(ident)));
    line.verification = request.verification;
    ICEBLINK_ASSIGN_OR_RETURN(request.operation.kind, kind_member(body));
    line.operation = std::move(request.operation);
  } else if (op == "drop") {
    ICEBLINK_ASSIGN_OR_RETURN(TableIdent ident, table_ident_of(body));
    line.operation = Drop{std::move(ident)};
  } else if (op == "rename") {
    Rename rename;
    ICEBLINK_ASSIGN_OR_RETURN(rename.from, table_ident_member(body, "source"));
    ICEBLINK_ASSIGN_OR_RETURN(rename.to, table_ident_member(body, "destination"));
    line.operation = std::move(rename);
  } else {
    return {ErrorKind::kInvalidArgument,
            "'op' is '" + op +
                "', it must be create-namespace, drop-namespace, register, drop or rename"};
  }
  return line;
}

// Parses on a file thread (a large body takes a while), then reads one metadata file per turn, so
// that a long batch does not keep others from that thread.
class Batch : public std::enable_shared_from_this<Batch> {
 public:
  explicit Batch(ExchangePtr exchange) : exchange_(std::move(exchange)) {}

  void parse() {
    std::string_view rest = exchange_->request().body;
    for (std::size_t number = 1; !rest.empty(); ++number) {
      const auto end = rest.find('\n');
      const auto text = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      auto line = line_of(text);
      if (!line) return exchange_->answer(at_line(number, line.error()));
      if (const auto admitted = admit(*line); !admitted) {
        return exchange_->answer(at_line(number, admitted.error()));
      }
      line->number = number;
      lines_.push_back(std::move(*line));
    }
    verify_next();
  }

 private:
  [[nodiscard]] Status admit(const BatchLine& line) const {
    const auto* const registered = std::get_if<Register>(&line.operation);
    if (registered == nullptr || line.verification == Verification::kReadFile) return Ok{};
    return admit_unread(*registered, exchange_->services().metadata_rules);
  }

  void verify_next() {
    while (next_ < lines_.size() && lines_[next_].verification == Verification::kNone) ++next_;
    if (next_ == lines_.size()) return commit();
    exchange_->on_file_thread([self = shared_from_this()] { self->verify(); });
  }

  void verify() {
    BatchLine& line = lines_[next_++];
    const auto document =
        verify_and_fill(std::get<Register>(line.operation), exchange_->services().metadata_rules);
    if (!document) return exchange_->answer(at_line(line.number, document.error()));
    verify_next();
  }

  void commit() {
    const std::size_t count = lines_.size();
    if (count == 0) {
      return exchange_->answer(done(exchange_->services().publisher.published_generation(), count));
    }
    std::vector<Operation> operations;
    std::vector<std::size_t> numbers;
    operations.reserve(count);
    numbers.reserve(count);
    for (BatchLine& line : lines_) {
      operations.push_back(std::move(line.operation));
      numbers.push_back(line.number);
    }
    exchange_->submit(
        std::move(operations),
        [count, numbers = std::move(numbers)](const CommitAnswer& answer) {
          if (const auto* refused = std::get_if<Refused>(&answer)) {
            return refusal(*refused, numbers);
          }
          return done(std::get<Committed>(answer).generation, count);
        },
        Exchange::remember_nothing);
  }

  static Response refusal(const Refused& refused, const std::vector<std::size_t>& numbers) {
    // Load and space are the whole batch's, not a line's.
    const ErrorKind kind = refused.error.kind();
    const bool is_of_line =
        refused.refusal != Refusal::kNone || kind == ErrorKind::kInvalidArgument;
    if (!is_of_line || refused.operation_index >= numbers.size()) return error_response(refused);
    return at_line(numbers[refused.operation_index], rest_error_of(refused),
                   refused.error.message());
  }

  static Response done(std::uint64_t generation, std::size_t count) {
    return json_response(R"({"generation":)" + std::to_string(generation) + R"(,"operations":)" +
                         std::to_string(count) + "}");
  }

  const ExchangePtr exchange_;
  std::vector<BatchLine> lines_;
  std::size_t next_ = 0;  // the line to verify
};

}  // namespace

void apply_batch(const ExchangePtr& exchange) {
  exchange->on_file_thread([batch = std::make_shared<Batch>(exchange)] { batch->parse(); });
}

}  // namespace iceblink::daemon::http
