// The console's files: a build of web/, read once at the start and served from memory. A
// request never touches the file system: a path is looked up among those that were read.
//   NAME.br, NAME.gz   precompressed variants of NAME, sent to who accepts them
//   assets/            names that change with their content: kept by browsers for good
//   index.html         also for pages below it (GET that accepts text/html), as the console
//                      finds its way by itself; __CSP_NONCE__ in it becomes a fresh nonce
// Invariant: at most limits::kConsoleBytes are held; links are not followed out of the
// directory; every answer carries the console's security headers.
// Thread-safe after open().
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "adapters/http/http.h"
#include "base/error.h"
#include "ports/entropy.h"

namespace cardhour::http {

class Console {
 public:
  // Reads the directory. One that is not there is a console that is not built: "/" says so.
  // too_large: more than the limits. `entropy` outlives it.
  static Result<std::shared_ptr<const Console>> open(const std::string& directory,
                                                     Entropy& entropy);

  // What lies at the request's path; nullopt when that is not the console's to answer: the
  // API's paths, other methods than GET and HEAD, and files that are not there.
  std::optional<Response> answer(const Request& request) const;

  bool is_built() const { return !index_.empty(); }

 private:
  struct Variant {
    std::string encoding;  // "br", "gzip", or empty
    std::shared_ptr<const std::string> content;
    std::string etag;
  };
  struct File {
    std::string type;
    bool immutable = false;
    std::vector<Variant> variants;  // best first; the plain one last
  };

  explicit Console(Entropy& entropy) : entropy_(entropy) {}
  Status read(const std::string& directory);
  void add(const std::string& path, std::string content);
  Response index() const;
  static Response not_built();
  static Response file(const File& file, const Request& request);

  Entropy& entropy_;
  std::map<std::string, File> files_;  // by path: "/assets/index-1a2b3c4d.js"
  std::string index_;                  // the text of index.html
};

}  // namespace cardhour::http
