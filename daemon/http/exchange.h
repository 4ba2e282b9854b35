// One request on its way to its one answer.
//
// A handler runs on a server thread, may hand the exchange to a file thread or to the committer,
// and answers exactly once, from wherever it then is.
//
// Thread safety: one thread at a time; handing it over is the caller's synchronisation.
//
// Invariants:
//  - The first answer is sent, later ones are dropped. A request whose exchange is dropped
//    without an answer gets a 500, or a 503 when it is a write that was never submitted.
//  - No answer overtakes the publish (rule 14): it leaves only when the newest state this
//    exchange has read is visible to every process.
#pragma once

#include <iceblink/object_kind.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/http/caller.h"
#include "daemon/http/names.h"
#include "daemon/http/request.h"
#include "daemon/http/request_log.h"
#include "daemon/http/response.h"
#include "daemon/http/services.h"

namespace iceblink::daemon::http {

/// The connection a request came on, as the exchange needs it.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Of the request in hand.
  [[nodiscard]] virtual const Caller& caller() const noexcept = 0;
  /// Runs `work` on the connection's own executor. From any thread.
  virtual void post(std::function<void()> work) = 0;
  /// Sends the answer of the request in hand. From any thread; once a request.
  virtual void send(Response response) = 0;
};

/// The path's names, still encoded: views into the request's target.
struct RawNames {
  std::string_view levels;
  std::string_view name;  // of a table or view
};

/// Where a namespace stands in a request's target.
enum class NamePlace : std::uint8_t { kPath, kQuery };

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Services& services, std::shared_ptr<Peer> peer, Request request);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] Services& services() const noexcept { return services_; }
  [[nodiscard]] const Request& request() const noexcept { return request_; }
  [[nodiscard]] const Caller& caller() const noexcept { return peer_->caller(); }
  [[nodiscard]] const RawNames& names() const noexcept { return names_; }
  /// The router's: called once, before the handler.
  void set_target(Target target, RawNames names);

  /// The raw value of the first parameter of that name.
  [[nodiscard]] std::optional<std::string_view> raw_query(std::string_view name) const noexcept;
  /// As above, form-decoded. An absent parameter is an empty optional.
  [[nodiscard]] Result<std::optional<std::string>> query(std::string_view name) const;

  /// A consistent state to read from; notes its generation.
  [[nodiscard]] Result<std::unique_ptr<Store::Reading>> read();

  /// Which namespace `raw` means in `reading`'s state; see names.h on '+'.
  [[nodiscard]] Result<Namespace> resolve_namespace(const Store::Reading& reading,
                                                    std::string_view raw,
                                                    NamePlace place = NamePlace::kPath) const;
  /// Which table or view the path means in `reading`'s state.
  [[nodiscard]] Result<TableIdent> resolve_name(const Store::Reading& reading,
                                                ObjectKind kind) const;
  /// The path's names, decoded, without a look at the catalog.
  [[nodiscard]] Result<Namespace> decode_namespace(PlusMeans plus) const;
  [[nodiscard]] Result<TableIdent> decode_name(PlusMeans plus) const;

  /// What is kept of a commit under the request's idempotency key, if it has one: its answer can be
  /// made again from that. Called in the transaction, on the committer's thread: must be short.
  using Remember = std::function<StoredAnswer(const Committed&)>;
  /// 204, without a body.
  [[nodiscard]] static StoredAnswer remember_nothing(const Committed& committed);

  /// Submits to the committer; `respond` runs on the connection's executor and makes the answer.
  void submit(std::vector<Operation> operations,
              std::function<Response(const CommitAnswer&)> respond, Remember remember);
  /// As above, but `then` sees to the answer, now or later. A refusal with kStaleBase may be
  /// submitted anew.
  void submit_then(std::vector<Operation> operations, std::function<void(const CommitAnswer&)> then,
                   Remember remember);
  /// As the first, with refusals answered the usual way.
  void commit(std::vector<Operation> operations, std::function<Response(const Committed&)> respond,
              Remember remember = remember_nothing);
  /// Submits changes of metadata; `respond` and `refuse` make the answer as above. `form`: what is
  /// kept under the key; kJson: the answer's body, of changes that leave the catalog as it is.
  void change_metadata(std::vector<MetadataChange> changes, StoredAnswer::Form form,
                       std::function<Response(ChangesDone&)> respond,
                       std::function<Response(const Refused&)> refuse);

  /// The request is carried out under a key, which is held until it is answered. Its final answer
  /// is stored: with its commit, or before it is sent. Called once, before the handler.
  void set_claim(IdempotentRequests::Hold hold, const shm::Id& binding);
  /// Runs `work` on the connection's executor, guarded, while the exchange lives.
  void post(std::function<void()> work);

  /// Runs `work` now; on a file thread when the request's body is so large that reading it takes
  /// a while.
  void on_thread_for_body(std::function<void()> work);
  /// Runs `job` on a file thread; 429 when they have too much to do, or when clients have yet to
  /// take so much that reading more would only fill memory.
  void on_file_thread(std::function<void()> job);

  /// Runs `work`; what it throws is answered: 429 for want of memory, else 500, or 503 when it is a
  /// write that was not submitted.
  void guard(const std::function<void()>& work) noexcept;

  void answer(Response response) noexcept;

 private:
  /// Answers what went wrong inside: a write that was not submitted was not done.
  void fail(const Error& error) noexcept;
  void finish(const CommitAnswer& commit_answer,
              const std::function<void(const CommitAnswer&)>& then);
  void finish(ChangesAnswer changes, StoredAnswer::Form form,
              const std::function<Response(ChangesDone&)>& respond,
              const std::function<Response(const Refused&)>& refuse);
  void note_generation(std::uint64_t generation) noexcept;
  [[nodiscard]] std::int64_t expiry_ms() const;
  [[nodiscard]] IdempotencyClaim claim_of(
      std::function<std::optional<StoredAnswer>(const CommitAnswer&)> to_store) const;
  void store_and_send(StoredAnswer stored, Response response);
  void compress_and_send(Response response);
  void send(Response response);
  /// Counts and logs what is about to be sent. Where there is no memory for a line it is left out:
  /// what was done is answered.
  void account(const Response& response) noexcept;
  void note_change(ChangeSummary change);

  [[nodiscard]] bool is_write() const noexcept {
    return request_.verb != Verb::kGet && request_.verb != Verb::kHead;
  }

  Services& services_;
  const std::shared_ptr<Peer> peer_;
  const Request request_;
  Target target_;
  RawNames names_;
  std::optional<std::uint64_t> generation_seen_;
  bool is_submitted_ = false;
  struct Claim {
    IdempotentRequests::Hold hold;
    shm::Id binding;
  };
  std::optional<Claim> claim_;
  bool is_answer_stored_ = false;
  std::atomic<bool> answered_{false};
  const std::chrono::steady_clock::time_point begun_at_;
  /// Of what was submitted and may change the catalog.
  std::optional<ChangeSummary> change_;
};

using ExchangePtr = std::shared_ptr<Exchange>;
/// Answers, now or later. May throw: the router answers 500 then.
using Handler = void (*)(const ExchangePtr&);

}  // namespace iceblink::daemon::http
