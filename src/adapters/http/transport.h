// The bytes of one connection, plain or TLS, behind one interface, so that the session's
// state machine is compiled once. One read and one write may be outstanding at a time.
// Not thread-safe: everything runs on the connection's strand.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"

namespace cardhour::http {

class Transport {
 public:
  using Done = std::function<void(boost::system::error_code, size_t)>;
  using Finished = std::function<void(boost::system::error_code)>;

  virtual ~Transport() = default;
  virtual void handshake(Finished finished) = 0;
  virtual void read_some(boost::asio::mutable_buffer buffer, Done done) = 0;
  virtual void write_some(boost::asio::const_buffer buffer, Done done) = 0;
  // Tells the peer that nothing more follows.
  virtual void shutdown_send(Finished finished) = 0;
  // Outstanding operations end with an error.
  virtual void close() = 0;
  virtual boost::asio::any_io_executor executor() = 0;
};

std::unique_ptr<Transport> plain_transport(boost::asio::ip::tcp::socket socket);

// The certificate and key of a listener, loaded once and shared by its connections.
class TlsContext {
 public:
  static Result<std::shared_ptr<TlsContext>> load(const std::string& certificate_file,
                                                  const std::string& key_file);
  virtual ~TlsContext() = default;
  virtual std::unique_ptr<Transport> transport(boost::asio::ip::tcp::socket socket) = 0;
};

}  // namespace cardhour::http
