#include "adapters/incus/incus_shells.h"

#include <fmt/format.h>
#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "adapters/incus/incus_client.h"

namespace cardhour {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace json = boost::json;
namespace websocket = beast::websocket;
using boost::system::error_code;

namespace {

using Socket = websocket::stream<asio::local::stream_protocol::socket, false>;
using Guard = asio::executor_work_guard<asio::io_context::executor_type>;

constexpr size_t kPieceBytes = 64 * 1024;
constexpr Duration kEndPatience = seconds(5);  // for its exit code
constexpr Duration kHangUpPatience = seconds(1);
constexpr std::string_view kHangUp = R"({"command":"signal","signal":1})";

// Bash where there is one; a login shell either way.
constexpr std::string_view kCommand =
    "if [ -x /bin/bash ]; then exec /bin/bash -l; else exec /bin/sh -l; fi";

std::string size_command(ShellSize size) {
  return json::serialize(json::object{
      {"command", "window-resize"},
      {"args", {{"width", std::to_string(size.columns)}, {"height", std::to_string(size.rows)}}}});
}

json::object exec_body(ShellSize size) {
  return {{"command", json::array{"/bin/sh", "-c", kCommand}},
          {"wait-for-websocket", true},
          {"interactive", true},
          {"width", size.columns},
          {"height", size.rows},
          {"environment",
           {{"TERM", "xterm-256color"}, {"LANG", "C.UTF-8"}, {"HOME", "/root"}, {"USER", "root"}}},
          {"user", 0},
          {"group", 0},
          {"cwd", "/root"}};
}

Error shell_failed(std::string_view why) {
  const std::string said(why);
  return Error{ErrorCode::engine_failed,
               text("the engine gave no shell: {}", "引擎没有提供终端：{}", said),
               {"try again", "请重试"},
               {}};
}

struct Execution {
  std::string operation;
  std::string terminal_secret;
  std::string control_secret;
};

// Blocks as long as the daemon does.
Result<Execution> begin(IncusClient& client, Engine& engine, const InstanceId& id, ShellSize size) {
  TRY_ASSIGN(const auto found, engine.find(id));
  if (!found || found->status == EngineStatus::stopped) {
    return fail(ErrorCode::engine_failed, {"the instance is not running", "实例未在运行"});
  }
  TRY_ASSIGN(json::object operation,
             client.begin({.method = "POST",
                           .path = fmt::format("/1.0/instances/{}/exec", id.text),
                           .body = exec_body(size)}));
  const json::value whole(std::move(operation));
  const auto text_of = [&](const char* pointer) -> std::string {
    error_code wrong;
    const json::value* found_text = whole.find_pointer(pointer, wrong);
    return !wrong && found_text->is_string() ? std::string(found_text->get_string()) : "";
  };
  Execution execution{text_of("/id"), text_of("/metadata/fds/0"), text_of("/metadata/fds/control")};
  if (execution.operation.empty() || execution.terminal_secret.empty() ||
      execution.control_secret.empty()) {
    return fail(shell_failed("it named no streams"));
  }
  return execution;
}

std::optional<int> exit_code(IncusClient& client, const std::string& operation) {
  const auto ended = client.wait(operation, kEndPatience);
  if (!ended) return std::nullopt;
  error_code wrong;
  const json::value whole(*ended);
  const json::value* code = whole.find_pointer("/metadata/return", wrong);
  if (wrong || !code->is_int64()) return std::nullopt;
  return static_cast<int>(code->get_int64());
}

}  // namespace

// The daemon's side: its client, and the two threads.
struct IncusShells::Daemon {
  Daemon(const IncusOptions& options, Engine& its_engine)
      : client(options.socket, options.project), engine(its_engine) {
    io_thread = run(io, "ch-shell-io");
    open_thread = run(opener, "ch-shell-open");
  }
  void stop() {
    io.stop();
    opener.stop();
    io_thread.join();
    open_thread.join();
  }

  IncusClient client;
  Engine& engine;
  asio::io_context io{1};
  asio::io_context opener{1};

 private:
  static std::thread run(asio::io_context& context, const char* name) {
    std::thread thread([&context] {
      const Guard work(context.get_executor());
      context.run();
    });
    pthread_setname_np(thread.native_handle(), name);
    return thread;
  }

  std::thread io_thread;
  std::thread open_thread;
};

namespace {

// One shell. Everything but begin() and exit_code() runs on the I/O thread.
class Running final : public std::enable_shared_from_this<Running> {
 public:
  Running(IncusClient& client, Engine& engine, asio::io_context& io, asio::io_context& opener)
      : client_(client),
        engine_(engine),
        io_(io),
        opener_(opener),
        terminal_(io),
        control_(io),
        timer_(io) {}

  void open(const InstanceId& id, ShellSize size) {
    size_ = size;
    asio::post(opener_, [self = shared_from_this(), id, size] {
      auto begun =
          std::make_shared<Result<Execution>>(begin(self->client_, self->engine_, id, size));
      asio::post(self->io_, [self, begun] { self->begun(std::move(*begun)); });
    });
  }

  void read(std::function<void(ShellOutput)> done) {
    reader_ = std::move(done);
    if (ended_) return tell_end();
    read_more();
  }

  void write(std::string bytes, std::function<void()> done) {
    input_ = std::move(bytes);
    writer_ = std::move(done);
    write_more();
  }

  void resize(ShellSize size) {
    size_ = size;
    is_size_told_ = false;
    control_more();
  }

  // The shell hears of it and can hang up its own; what is left then loses its terminal.
  void hang_up() {
    if (hanging_up_) return;
    hanging_up_ = true;
    if (!is_open_) return drop();
    control_more();
    timer_.expires_after(std::chrono::milliseconds(kHangUpPatience.ms));
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->drop();
    });
  }

 private:
  void begun(Result<Execution> execution) {
    if (!execution) return fail_with(execution.error());
    operation_ = execution->operation;
    if (hanging_up_) return drop();  // the daemon ends an exec that nobody connects to
    // Control first: the program begins when both are connected.
    connect(control_, execution->control_secret, [this, secret = execution->terminal_secret] {
      connect(terminal_, secret, [this] { opened(); });
    });
  }

  template <class Next>
  void connect(Socket& socket, const std::string& secret, Next next) {
    socket.next_layer().async_connect(
        asio::local::stream_protocol::endpoint(client_.socket()),
        [self = shared_from_this(), &socket, secret, next](error_code error) {
          if (error) return self->fail_with(shell_failed(error.message()));
          const std::string target = fmt::format("/1.0/operations/{}/websocket?secret={}",
                                                 self->operation_, url_escaped(secret));
          socket.async_handshake("incus", target, [self, next](error_code wrong) {
            if (wrong) return self->fail_with(shell_failed(wrong.message()));
            next();
          });
        });
  }

  void opened() {
    is_open_ = true;
    terminal_.binary(true);
    terminal_.auto_fragment(false);
    control_.text(true);
    listen_to_control();
    read_more();
    write_more();
    control_more();
  }

  // Says nothing that matters; read so that its closing and pings are answered.
  void listen_to_control() {
    control_.async_read(control_buffer_, [self = shared_from_this()](error_code error, size_t) {
      self->control_buffer_.consume(self->control_buffer_.size());
      if (!error) self->listen_to_control();
    });
  }

  void read_more() {
    if (!is_open_ || !reader_ || reading_ || ended_) return;
    reading_ = true;
    terminal_.async_read_some(buffer_, kPieceBytes,
                              [self = shared_from_this()](error_code error, size_t count) {
                                self->reading_ = false;
                                // An empty text message is the daemon's end of a stream; a
                                // connection that goes is one too.
                                if (error || (count == 0 && self->terminal_.got_text()))
                                  return self->ended();
                                self->give_output();
                              });
  }

  void give_output() {
    if (buffer_.size() == 0) return read_more();
    ShellOutput output;
    output.bytes = beast::buffers_to_string(buffer_.data());
    buffer_.consume(buffer_.size());
    std::exchange(reader_, nullptr)(std::move(output));
  }

  void ended() {
    if (operation_.empty() || ended_) return finish({});
    if (std::exchange(ending_, true)) return;
    // The daemon tells the code once our side is gone too.
    error_code ignored;
    terminal_.next_layer().close(ignored);
    asio::post(opener_, [self = shared_from_this()] {
      const auto code = exit_code(self->client_, self->operation_);
      asio::post(self->io_, [self, code] { self->finish(code); });
    });
  }

  void finish(std::optional<int> code) {
    if (!ended_) {
      ended_ = true;
      end_.exit_code = code;
    }
    drop();
    tell_end();
  }

  void fail_with(Error error) {
    if (!ended_) {
      ended_ = true;
      end_.failure = std::move(error);
    }
    drop();
    tell_end();
  }

  void tell_end() {
    if (writer_) std::exchange(writer_, nullptr)();
    if (reader_) std::exchange(reader_, nullptr)(end_);
  }

  void write_more() {
    if (ended_ && writer_) return std::exchange(writer_, nullptr)();
    if (!is_open_ || !writer_ || writing_) return;
    writing_ = true;
    terminal_.async_write(asio::buffer(input_), [self = shared_from_this()](error_code, size_t) {
      // An error here is an end there: the reading tells it.
      self->writing_ = false;
      self->input_.clear();
      if (self->writer_) std::exchange(self->writer_, nullptr)();
    });
  }

  void control_more() {
    if (!is_open_ || controlling_) return;
    if (hanging_up_ && !is_hang_up_told_) {
      is_hang_up_told_ = true;
      said_ = kHangUp;
    } else if (!is_size_told_) {
      is_size_told_ = true;
      said_ = size_command(size_);
    } else {
      return;
    }
    controlling_ = true;
    control_.async_write(asio::buffer(said_), [self = shared_from_this()](error_code, size_t) {
      self->controlling_ = false;
      self->control_more();
    });
  }

  // What is outstanding ends with an error. A shell that still runs is killed by the daemon.
  void drop() {
    error_code ignored;
    timer_.cancel();
    is_open_ = false;
    terminal_.next_layer().close(ignored);
    control_.next_layer().close(ignored);
    if (!reading_ && !ended_) ended();
  }

  IncusClient& client_;
  Engine& engine_;
  asio::io_context& io_;
  asio::io_context& opener_;
  Socket terminal_;
  Socket control_;
  asio::steady_timer timer_;
  std::string operation_;
  beast::flat_buffer buffer_;
  beast::flat_buffer control_buffer_;
  ShellSize size_;
  std::string input_;
  std::string said_;
  std::function<void(ShellOutput)> reader_;
  std::function<void()> writer_;
  ShellOutput end_;
  bool is_open_ = false;
  bool ending_ = false;  // its exit code is being asked for
  bool ended_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool controlling_ = false;
  bool hanging_up_ = false;
  bool is_hang_up_told_ = false;
  bool is_size_told_ = true;  // it began with this size
};

class Handle final : public Shell {
 public:
  Handle(asio::io_context& io, std::shared_ptr<Running> running)
      : io_(io), running_(std::move(running)) {}
  ~Handle() override { end(); }

  void read(std::function<void(ShellOutput)> done) override {
    asio::post(io_, [running = running_, done = std::move(done)]() mutable {
      running->read(std::move(done));
    });
  }
  void write(std::string bytes, std::function<void()> done) override {
    asio::post(io_,
               [running = running_, bytes = std::move(bytes), done = std::move(done)]() mutable {
                 running->write(std::move(bytes), std::move(done));
               });
  }
  void resize(ShellSize size) override {
    asio::post(io_, [running = running_, size] { running->resize(size); });
  }
  void end() override {
    asio::post(io_, [running = running_] { running->hang_up(); });
  }

 private:
  asio::io_context& io_;
  const std::shared_ptr<Running> running_;
};

}  // namespace

IncusShells::IncusShells(const IncusOptions& options, Engine& engine)
    : daemon_(std::make_shared<Daemon>(options, engine)) {}

IncusShells::~IncusShells() { daemon_->stop(); }

std::unique_ptr<Shell> IncusShells::open(const InstanceId& id, ShellSize size) {
  auto running =
      std::make_shared<Running>(daemon_->client, daemon_->engine, daemon_->io, daemon_->opener);
  running->open(id, size);
  return std::make_unique<Handle>(daemon_->io, std::move(running));
}

}  // namespace cardhour
