// IncusClient: the REST interface of one Incus daemon over its unix socket. Answers are
// bounded, every call has an end, and background operations are waited for. Every path gets
// the project. Errors, and nowhere else is one made of Incus's:
//   engine_unavailable  nothing is known: no connection, no answer in time, the daemon is
//                       starting or busy with the object, or an operation that got lost
//   not_found           the daemon's word that the object is not there
//   conflict            the object changed since it was read (If-Match)
//   engine_failed       the daemon's refusal, in its own words
// Used inside this room only. Thread-safe: each call takes a handle of its own.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace cardhour {

struct IncusDocument {
  boost::json::value metadata;
  std::string etag;
};

struct IncusFile {
  std::string path;
  std::string content;
  int mode = 0600;
  enum class Kind { file, directory } kind = Kind::file;
};

class IncusClient {
 public:
  IncusClient(std::string socket, std::string project);
  ~IncusClient();
  IncusClient(const IncusClient&) = delete;
  IncusClient& operator=(const IncusClient&) = delete;

  const std::string& socket() const { return socket_; }
  const std::string& project() const { return project_; }

  Result<boost::json::value> get(std::string_view path);
  Result<IncusDocument> get_document(std::string_view path);

  // Changes something and waits for the operation, if it becomes one, at most `patience`.
  // `etag`: only when the object is still as it was read; empty: in any case.
  struct Change {
    std::string method;
    std::string path;
    boost::json::value body;
    Duration patience = seconds(30);
    std::string etag;
  };
  Status change(const Change& change);

  // Starts an operation and returns its description, without waiting.
  Result<boost::json::object> begin(const Change& change);
  // The finished operation. engine_unavailable when it does not end in time.
  Result<boost::json::object> wait(std::string_view operation_id, Duration patience);

  // Puts a file of root's, or makes a directory, inside an instance.
  Status push_file(std::string_view instance, const IncusFile& file);

 private:
  struct Call;
  struct Reply;
  Result<Reply> perform(const Call& call);
  void* take_handle();
  void give_handle(void* handle);
  std::string url(std::string_view path) const;

  std::string socket_;
  std::string project_;
  std::mutex mutex_;
  std::vector<void*> idle_;  // curl handles, each with its connection
};

// Text in a URL's query.
std::string url_escaped(std::string_view text);

}  // namespace cardhour
