#include "adapters/incus/incus_exec.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <memory>
#include <utility>

namespace cardhour {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace json = boost::json;
namespace websocket = beast::websocket;
using boost::system::error_code;

namespace {

constexpr Duration kEndPatience = seconds(5);
constexpr std::string_view kKill = R"({"command":"signal","signal":9})";

tl::unexpected<Error> exec_failed(const ExecRequest& request, std::string_view why_en,
                                  std::string_view why_zh) {
  const std::string& program = request.command.front();
  return fail(ErrorCode::engine_failed,
              Text{fmt::format("{} inside {} {}", program, request.instance, why_en),
                   fmt::format("实例 {1} 内的 {0} {2}", program, request.instance, why_zh)});
}

// One file descriptor of the program, as Incus hands it out: a WebSocket. An empty text
// message is the end of the stream, in both directions.
class Channel {
 public:
  explicit Channel(asio::io_context& io) : stream_(asio::local::stream_protocol::socket(io)) {}

  error_code open(const std::string& socket, const std::string& target) {
    error_code wrong;
    stream_.next_layer().connect(asio::local::stream_protocol::endpoint(socket), wrong);
    target_ = target;
    return wrong;
  }

  void send(std::string input, std::string* failure) {
    input_ = std::move(input);
    failure_ = failure;
    stream_.binary(true);
    shake([this] {
      if (input_.empty()) return finish();
      stream_.async_write(asio::buffer(input_), [this](error_code wrong, size_t) {
        // A program that does not read its input to the end is none of our business.
        if (!wrong) finish();
      });
    });
  }

  void collect(std::string* sink, size_t bytes_max, std::string* failure) {
    sink_ = sink;
    bytes_max_ = bytes_max;
    failure_ = failure;
    stream_.read_message_max(bytes_max);
    shake([this] { read(); });
  }

  // For the control channel: open, and silent until told.
  void hold(std::string* failure) {
    failure_ = failure;
    shake([] {});
  }
  void kill() {
    error_code ignored;
    if (!stream_.is_open()) return;
    stream_.text(true);
    stream_.write(asio::buffer(kKill), ignored);
  }
  void drop() {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }
  bool ended() const { return ended_; }

 private:
  template <class Next>
  void shake(Next next) {
    stream_.async_handshake("incus", target_, [this, next](error_code wrong) {
      if (!wrong) return next();
      if (failure_->empty()) *failure_ = wrong.message();
    });
  }

  void finish() {
    stream_.text(true);
    stream_.async_write(asio::const_buffer(), [](error_code, size_t) {});
  }

  void read() {
    stream_.async_read(buffer_, [this](error_code wrong, size_t count) {
      const bool over = sink_->size() + count > bytes_max_ || too_big(wrong);
      if (over) {
        if (failure_->empty()) *failure_ = "too much output";
        return;
      }
      // A connection that goes is an end too, orderly or not (the daemon may not wait for our
      // half of the closing): whether the program did its work is what the operation says.
      if (wrong || (stream_.got_text() && count == 0)) {
        ended_ = true;
        return;
      }
      sink_->append(static_cast<const char*>(buffer_.data().data()), count);
      buffer_.consume(count);
      read();
    });
  }

  static bool too_big(error_code wrong) {
    return wrong == websocket::error::message_too_big || wrong == websocket::error::buffer_overflow;
  }

  websocket::stream<asio::local::stream_protocol::socket> stream_;
  std::string target_;
  std::string input_;
  beast::flat_buffer buffer_;
  std::string* sink_ = nullptr;
  size_t bytes_max_ = 0;
  std::string* failure_ = nullptr;
  bool ended_ = false;
};

struct Started {
  std::string operation;
  json::object secrets;  // of each descriptor's WebSocket
};

Result<Started> start(IncusClient& client, const ExecRequest& request) {
  json::array command;
  for (const std::string& word : request.command) command.emplace_back(word);
  json::object body = {{"command", std::move(command)},
                       {"wait-for-websocket", true},
                       {"interactive", false},
                       {"environment", {{"LANG", "C.UTF-8"}}},
                       {"user", 0},
                       {"group", 0},
                       {"cwd", "/"}};
  TRY_ASSIGN(json::object operation,
             client.begin({.method = "POST",
                           .path = fmt::format("/1.0/instances/{}/exec", request.instance),
                           .body = std::move(body)}));
  error_code wrong;
  const json::value whole(std::move(operation));
  const json::value* id = whole.find_pointer("/id", wrong);
  const json::value* fds = wrong ? nullptr : whole.find_pointer("/metadata/fds", wrong);
  if (wrong || !id->is_string() || !fds->is_object()) {
    return exec_failed(request, "got no streams", "没有得到数据流");
  }
  return Started{std::string(id->get_string()), fds->get_object()};
}

class Session {
 public:
  Session(IncusClient& client, const ExecRequest& request) : client_(client), request_(request) {}

  Result<ExecOutcome> run() {
    TRY_ASSIGN(started_, start(client_, request_));
    // Control and input first: the program begins when all descriptors are connected.
    TRY(open(control_, "control"));
    TRY(open(input_, "0"));
    TRY(open(output_, "1"));
    TRY(open(errors_, "2"));
    std::string unheard;  // an input that breaks is no failure: the exit status tells
    control_.hold(&unheard);
    input_.send(request_.input, &unheard);
    output_.collect(&outcome_.output, request_.output_bytes_max, &failure_);
    errors_.collect(&outcome_.errors, request_.output_bytes_max, &failure_);
    pump();
    if (!done()) return give_up();
    drop_all();
    return conclude();
  }

 private:
  bool done() const { return output_.ended() && errors_.ended() && failure_.empty(); }

  Status open(Channel& channel, std::string_view descriptor) {
    const json::value* secret = started_.secrets.if_contains(descriptor);
    if (secret == nullptr || !secret->is_string()) {
      return exec_failed(request_, "got no stream", "没有得到数据流");
    }
    const std::string target =
        fmt::format("/1.0/operations/{}/websocket?secret={}", started_.operation,
                    url_escaped(std::string_view(secret->get_string())));
    if (const error_code wrong = channel.open(client_.socket(), target)) {
      return exec_failed(request_, wrong.message(), wrong.message());
    }
    return {};
  }

  void pump() {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(request_.patience.ms);
    while (!done() && failure_.empty() && io_.run_one_until(end) > 0) {
    }
  }

  // Killed, so that it does not run on unseen; then the streams are closed.
  tl::unexpected<Error> give_up() {
    control_.kill();
    drop_all();
    if (!failure_.empty()) return exec_failed(request_, "failed: " + failure_, "失败：" + failure_);
    return exec_failed(request_, "did not end in time", "没有在限期内结束");
  }

  void drop_all() {
    for (Channel* channel : {&control_, &input_, &output_, &errors_}) channel->drop();
    io_.poll();
  }

  Result<ExecOutcome> conclude() {
    TRY_ASSIGN(json::object operation, client_.wait(started_.operation, kEndPatience));
    error_code wrong;
    const json::value whole(std::move(operation));
    const json::value* status = whole.find_pointer("/metadata/return", wrong);
    if (wrong || !status->is_int64()) {
      const json::value* said = whole.find_pointer("/err", wrong);
      const std::string why = !wrong && said->is_string() ? std::string(said->get_string()) : "";
      return exec_failed(request_, "did not run: " + why, "没有运行：" + why);
    }
    outcome_.exit_status = static_cast<int>(status->get_int64());
    return std::move(outcome_);
  }

  IncusClient& client_;
  const ExecRequest& request_;
  asio::io_context io_{1};
  Started started_;
  Channel control_{io_};
  Channel input_{io_};
  Channel output_{io_};
  Channel errors_{io_};
  std::string failure_;
  ExecOutcome outcome_;
};

}  // namespace

Result<ExecOutcome> incus_exec(IncusClient& client, const ExecRequest& request) {
  return Session(client, request).run();
}

}  // namespace cardhour
