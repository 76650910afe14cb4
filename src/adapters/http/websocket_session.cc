#include "adapters/http/websocket_session.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <optional>
#include <utility>

namespace cardhour::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
namespace websocket = beast::websocket;
using boost::system::error_code;
using Steady = std::chrono::steady_clock;

constexpr size_t kReasonBytes = 120;                  // a control frame holds 125 with the code
constexpr Duration kHandshakePatience = seconds(15);  // of the opening and the closing

// A Transport as Beast wants it: an AsyncStream. What was read too early comes first.
class TransportStream {
 public:
  using executor_type = asio::any_io_executor;

  explicit TransportStream(Transport& transport) : transport_(&transport) {}

  executor_type get_executor() { return transport_->executor(); }
  void unread(std::string bytes) { unread_ = std::move(bytes); }
  Transport& transport() { return *transport_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, size_t)>(
        [this](auto handler, asio::mutable_buffer into) { read(into, shared(std::move(handler))); },
        token, first<asio::mutable_buffer>(buffers));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, size_t)>(
        [this](auto handler, asio::const_buffer from) {
          transport_->write_some(from, shared(std::move(handler)));
        },
        token, first<asio::const_buffer>(buffers));
  }

 private:
  // A transport takes handlers that can be copied; Beast's can only be moved.
  template <class Handler>
  static Transport::Done shared(Handler handler) {
    auto held = std::make_shared<Handler>(std::move(handler));
    return [held](error_code error, size_t bytes) { std::move (*held)(error, bytes); };
  }

  // The first that holds anything: "some" may be that little.
  template <class Buffer, class Buffers>
  static Buffer first(const Buffers& buffers) {
    for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers);
         ++at) {
      if (Buffer(*at).size() > 0) return *at;
    }
    return {};
  }

  void read(asio::mutable_buffer into, Transport::Done done) {
    if (unread_.empty()) return transport_->read_some(into, std::move(done));
    const size_t bytes = asio::buffer_copy(into, asio::buffer(unread_));
    unread_.erase(0, bytes);
    asio::post(transport_->executor(), [done = std::move(done), bytes] { done({}, bytes); });
  }

  Transport* transport_;
  std::string unread_;
};

// How Beast ends a stream of ours; found by argument.
template <class Handler>
void async_teardown(beast::role_type, TransportStream& stream, Handler&& handler) {
  auto held = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
  stream.transport().shutdown_send([held](error_code error) { std::move (*held)(error); });
}
void beast_close_socket(TransportStream& stream) { stream.transport().close(); }

std::chrono::milliseconds chrono(Duration d) { return std::chrono::milliseconds(d.ms); }

class Session final : public WebSocketSession, public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<void> owner, Transport& transport,
          std::shared_ptr<WebSocketHandler> handler, Options options, std::function<void()> ended)
      : owner_(std::move(owner)),
        handler_(std::move(handler)),
        options_(options),
        ended_(std::move(ended)),
        stream_(TransportStream(transport)),
        timer_(transport.executor()) {}

  void start(const Headers& request, std::string unread) override {
    beast_http::request<beast_http::empty_body> upgrade;
    upgrade.method(beast_http::verb::get);
    upgrade.target("/");
    for (const auto& [name, value] : request.fields) upgrade.insert(name, value);
    stream_.next_layer().unread(std::move(unread));
    stream_.read_message_max(options_.message_bytes_max);
    stream_.auto_fragment(false);
    stream_.set_option(websocket::stream_base::timeout{chrono(kHandshakePatience),
                                                       websocket::stream_base::none(), false});
    stream_.set_option(websocket::stream_base::decorator(
        [protocol = agreed_protocol(request)](websocket::response_type& response) {
          if (!protocol.empty()) {
            response.set(beast_http::field::sec_websocket_protocol, protocol);
          }
        }));
    stream_.control_callback([this](websocket::frame_type, beast::string_view) { heard(); });
    stream_.async_accept(upgrade, [self = shared_from_this()](error_code error) {
      if (error) return self->end();
      if (self->ended_) self->accepted();  // unless the server stopped meanwhile
    });
  }

  void stop() override { close({1001, ""}); }
  void drop() override { end(); }

 private:
  // Ours, if the client asked for it: a browser takes no other.
  std::string agreed_protocol(const Headers& request) const {
    const auto asked = list_words(request.find("Sec-WebSocket-Protocol").value_or(""));
    const std::string ours = handler_->protocol();
    return std::find(asked.begin(), asked.end(), ours) != asked.end() ? ours : "";
  }

  void accepted() {
    is_open_ = true;
    heard();
    tick();
    const std::weak_ptr<Session> weak = weak_from_this();
    handler_->opened([weak] {
      if (const auto self = weak.lock()) self->wake();
    });
    read();
    pump();
  }

  void wake() {
    if (wake_posted_.exchange(true)) return;
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      self->wake_posted_.store(false);
      if (!self->is_open_) return;
      if (self->pending_) self->offer();
      self->pump();
    });
  }

  void read() {
    if (!is_open_ || reading_) return;
    reading_ = true;
    heard();
    stream_.async_read(buffer_, [self = shared_from_this()](error_code error, size_t) {
      self->reading_ = false;
      if (error) return self->read_failed();
      self->heard();
      self->pending_ = WebSocketMessage{
          self->stream_.got_text() ? WebSocketMessage::Kind::text : WebSocketMessage::Kind::binary,
          beast::buffers_to_string(self->buffer_.data())};
      self->buffer_.consume(self->buffer_.size());
      self->offer();
    });
  }

  // While closing, a read that fails is the other side's answer; the close has its own callback.
  void read_failed() {
    if (!closing_) end();
  }

  void offer() {
    if (!is_open_ || closing_ || !handler_->received(*pending_)) return;
    pending_.reset();
    read();
    pump();
  }

  void pump() {
    if (!is_open_ || writing_ || closing_) return;
    auto next = handler_->next();
    if (!next) return;
    if (auto* last = std::get_if<WebSocketClose>(&*next)) return close(std::move(*last));
    auto& message = std::get<WebSocketMessage>(*next);
    outgoing_ = std::move(message.data);
    stream_.text(message.kind == WebSocketMessage::Kind::text);
    writing_ = true;
    stream_.async_write(asio::buffer(outgoing_),
                        [self = shared_from_this()](error_code error, size_t) {
                          self->writing_ = false;
                          if (error) return self->end();
                          if (self->closing_) return self->send_close();
                          self->pump();
                        });
  }

  void close(WebSocketClose last) {
    if (!is_open_) return end();
    if (closing_) return;
    closing_ = std::move(last);
    if (!writing_) send_close();
  }

  void send_close() {
    // A cut must not split a character: what is left of one would not be UTF-8.
    std::string reason = closing_->reason.substr(0, kReasonBytes);
    while (reason.size() < closing_->reason.size() && !reason.empty() &&
           (static_cast<unsigned char>(closing_->reason[reason.size()]) & 0xC0) == 0x80) {
      reason.pop_back();
    }
    const websocket::close_reason said(static_cast<websocket::close_code>(closing_->code), reason);
    stream_.async_close(said, [self = shared_from_this()](error_code) { self->end(); });
  }

  void heard() { heard_ = Steady::now(); }

  // Pings, and ends what does not answer. A peer whose message is not taken yet is not read.
  void tick() {
    timer_.expires_after(chrono(options_.ping_every));
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->is_open_) self->ticked();
    });
  }

  void ticked() {
    if (reading_ && Steady::now() - heard_ > chrono(options_.silence_max)) return end();
    if (!pinging_ && !closing_) {
      pinging_ = true;
      stream_.async_ping({}, [self = shared_from_this()](error_code error) {
        self->pinging_ = false;
        if (error) self->end();
      });
    }
    tick();
  }

  void end() {
    if (!ended_) return;
    const auto ended = std::exchange(ended_, nullptr);
    const bool was_open = std::exchange(is_open_, false);
    timer_.cancel();
    stream_.next_layer().transport().close();
    if (was_open) handler_->closed();
    handler_.reset();
    ended();
  }

  const std::shared_ptr<void> owner_;  // first, so that it goes last
  std::shared_ptr<WebSocketHandler> handler_;
  const Options options_;
  std::function<void()> ended_;  // empty once called
  websocket::stream<TransportStream, false> stream_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_;
  std::string outgoing_;                     // being written
  std::optional<WebSocketMessage> pending_;  // received, not taken yet
  std::optional<WebSocketClose> closing_;
  Steady::time_point heard_;
  bool is_open_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool pinging_ = false;
  std::atomic<bool> wake_posted_{false};
};

}  // namespace

std::shared_ptr<WebSocketSession> WebSocketSession::create(
    std::shared_ptr<void> owner, Transport& transport, std::shared_ptr<WebSocketHandler> handler,
    Options options, std::function<void()> ended) {
  return std::make_shared<Session>(std::move(owner), transport, std::move(handler), options,
                                   std::move(ended));
}

}  // namespace cardhour::http
