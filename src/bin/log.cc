#include "bin/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace cardhour::log {

bool start(const std::string& level) {
  const auto wanted = spdlog::level::from_str(level);
  if (wanted == spdlog::level::off && level != "off") return false;
  auto logger = std::make_shared<spdlog::logger>("cardhour",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(wanted);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
  return true;
}

void info(const std::string& line) { spdlog::info("{}", line); }
void warn(const std::string& line) { spdlog::warn("{}", line); }
void error(const std::string& line) { spdlog::error("{}", line); }

void request(const http::RequestLog& request) {
  const bool our_fault = request.status == 500 || !request.failure.empty();
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const auto level = our_fault ? spdlog::level::err
                     : reads   ? spdlog::level::debug
                               : spdlog::level::info;
  spdlog::log(level, "{} {} {} {} {} ms from {} by {}{}{}",
              request.method.empty() ? "?" : request.method, request.path, request.status,
              request.operation_id, request.elapsed_ms, request.client_address,
              request.actor_id.empty() ? "nobody" : request.actor_id,
              request.failure.empty() ? "" : ": ", request.failure);
}

std::string text_of(const Error& error) {
  return error.next.en.empty() ? error.what.en : error.what.en + "; " + error.next.en;
}

}  // namespace cardhour::log
