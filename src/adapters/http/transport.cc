#include "adapters/http/transport.h"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <utility>

namespace cardhour::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(tcp::socket socket) : socket_(std::move(socket)) {}

  void handshake(Finished finished) override { finished({}); }
  void read_some(asio::mutable_buffer buffer, Done done) override {
    socket_.async_read_some(buffer, std::move(done));
  }
  void write_some(asio::const_buffer buffer, Done done) override {
    socket_.async_write_some(buffer, std::move(done));
  }
  void shutdown_send(Finished finished) override {
    error_code error;
    socket_.shutdown(tcp::socket::shutdown_send, error);
    finished(error);
  }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }
  asio::any_io_executor executor() override { return socket_.get_executor(); }

 private:
  tcp::socket socket_;
};

class TlsTransport final : public Transport {
 public:
  TlsTransport(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  void handshake(Finished finished) override {
    stream_.async_handshake(asio::ssl::stream_base::server, std::move(finished));
  }
  void read_some(asio::mutable_buffer buffer, Done done) override {
    stream_.async_read_some(buffer, std::move(done));
  }
  void write_some(asio::const_buffer buffer, Done done) override {
    stream_.async_write_some(buffer, std::move(done));
  }
  // Sends close_notify, and does not wait for the peer's: the session's deadline does.
  void shutdown_send(Finished finished) override { stream_.async_shutdown(std::move(finished)); }
  void close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }
  asio::any_io_executor executor() override { return stream_.get_executor(); }

 private:
  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<tcp::socket> stream_;
};

class LoadedTlsContext final : public TlsContext {
 public:
  explicit LoadedTlsContext(std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)) {}
  std::unique_ptr<Transport> transport(tcp::socket socket) override {
    return std::make_unique<TlsTransport>(std::move(socket), context_);
  }

 private:
  std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(tcp::socket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

Result<std::shared_ptr<TlsContext>> TlsContext::load(const std::string& certificate_file,
                                                     const std::string& key_file) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                       asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
  error_code error;
  context->use_certificate_chain_file(certificate_file, error);
  if (!error) context->use_private_key_file(key_file, asio::ssl::context::pem, error);
  if (error) {
    const std::string why = error.message();
    return fail(ErrorCode::invalid_argument,
                text("cannot load the TLS certificate {} with key {}: {}",
                     "无法加载 TLS 证书 {} 和密钥 {}：{}", certificate_file, key_file, why),
                {"Give PEM files that belong together.", "请提供配套的 PEM 文件。"});
  }
  return std::make_shared<LoadedTlsContext>(std::move(context));
}

}  // namespace cardhour::http
