// events.
#include <algorithm>
#include <chrono>
#include <thread>

#include "base/limits.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/terminal.h"
#include "cli/width.h"
#include "cli/words.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

constexpr int kLatest = 20;
constexpr Duration kRetryFirst = seconds(1);
constexpr Duration kRetryMax = seconds(15);

std::string event_line(const Context& context, const wire::EventView& event) {
  std::string line = local_time(event.at).substr(0, 10) + " " + local_clock(event.at);
  line += "  " + padded(event.instance_id ? event.instance_id->text : "-", 13, Align::left);
  line += "  " + padded(clean(context.in(event_text(event.kind))), 24, Align::left);
  std::string why = clean(context.in(reason_text(event.reason)));
  if (!event.actor.empty()) {
    why += (why.empty() ? "" : context.in({", ", "，"})) + clean(event.actor);
  }
  line += "  " + why;
  if (!event.detail.empty()) line += "  " + clean(event.detail);
  return line;
}

// In slices, so that Ctrl-C is heard.
void pause_for(Duration length) {
  for (int64_t ms = 0; ms < length.ms && !InterruptWatch::seen(); ms += 100) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// The stream ends with an event of type "problem" when the server refuses to go on.
Error stream_problem(const StreamEvent& event) { return problem_error(500, event.data); }

// Resumes by the last id after every cut, until Ctrl-C or until the server refuses.
Outcome follow(Context& context, Client& client, const Query& query, std::string last_id) {
  const InterruptWatch watch;
  std::optional<Error> refused;
  Duration retry;  // nothing after a stream that brought something
  const auto on_event = [&](const StreamEvent& event) {
    retry = {};
    if (event.type == "problem") {
      refused = stream_problem(event);
      return Client::Next::stop;
    }
    if (context.json) {
      context.put(event.data);
    } else if (const auto view = decode<wire::EventView>(event.data)) {
      context.put(event_line(context, *view));
    }
    return Client::Next::go_on;
  };
  while (!InterruptWatch::seen()) {
    const Client::StreamEnd end = client.stream("/events", query, last_id, on_event);
    last_id = end.last_id;
    if (refused) return fail(*refused);
    if (end.stopped) break;
    if (end.refused) return fail(*end.error);
    if (end.error) {
      const std::string wait = std::to_string(retry.ms / 1000);
      context.note(Text{end.error->what.en + "; trying again in " + wait + " s",
                        end.error->what.zh + "；" + wait + " 秒后重试"});
    }
    pause_for(retry);
    retry = std::clamp(retry * 2, kRetryFirst, kRetryMax);
  }
  return kDone;
}

Outcome events(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const auto count, arguments.number("--count", 1, limits::kPageMax));
  TRY_ASSIGN(Client * client, context.client());
  std::string path = "/events/latest";
  Query stream_query;
  if (const auto word = arguments.find("ID")) {
    TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, *word));
    path = "/instances/" + view.id.text + "/events";
    stream_query["instance"] = view.id.text;
  }
  TRY_ASSIGN(const std::string answer,
             client->get(path, Query{{"limit", std::to_string(count.value_or(kLatest))}}));
  const bool follows = arguments.has("--follow");
  if (context.json && !follows) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::EventView>>(answer));
  if (context.json) {
    for (const auto& event : page.items) context.put(encode(event));
  } else {
    for (const auto& event : page.items) context.put(event_line(context, event));
  }
  if (!follows) return kDone;
  return follow(context, *client, stream_query, page.next.value_or("0"));
}

}  // namespace

void add_event_commands(std::vector<Command>& to) {
  to.push_back(
      {.path = "events",
       .group = Group::instances,
       .summary = {"what happened, and why; -f follows", "发生了什么、为什么，-f 持续跟踪"},
       .positionals = {{"ID",
                        {"only this instance: ID or name", "仅此实例：ID 或名称"},
                        Positional::Need::optional}},
       .options = {{"-f,--follow",
                    "",
                    {"go on as things happen, until Ctrl-C", "持续跟踪，按 Ctrl-C 结束"}},
                   {"-n,--count", "N", {"the latest N; 20 if absent", "最近 N 条，默认 20"}}},
       .examples = {{"cardhour events train -f", {"", ""}},
                    {"cardhour events -f --json",
                     {"one JSON object a line", "每行一个 JSON 对象"}}},
       .run = events});
}

}  // namespace cardhour::cli
