#include "cli/context.h"

#include <cstdlib>

#include "base/limits.h"
#include "cli/decode.h"
#include "cli/terminal.h"
#include "cli/width.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

constexpr int kPagesMax = 100;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

tl::unexpected<Error> no_login(const Config& config, const std::string& profile) {
  std::string others;
  for (const auto& [name, known] : config.profiles) others += (others.empty() ? "" : ", ") + name;
  if (others.empty()) {
    return fail(ErrorCode::unauthenticated,
                Text{"not logged in anywhere yet", "尚未登录任何服务器"},
                Text{"Log in: cardhour login URL", "请先登录：cardhour login URL"});
  }
  return fail(ErrorCode::unauthenticated,
              text("not logged in as profile \"{}\"", "配置“{}”尚未登录", clean(profile)),
              text("Log in: cardhour login URL; or use another with --profile: {}",
                   "请登录：cardhour login URL；或用 --profile 选用其他配置：{}", clean(others)));
}

// Names that cannot stand in a path are looked for in the list.
bool fits_path(const std::string& name) {
  return name.find_first_of("/\\") == std::string::npos && name != "." && name != "..";
}

Result<std::optional<wire::InstanceView>> find_in_list(Client& client, const std::string& name) {
  TRY_ASSIGN(const std::string answer, all_pages(client, "/instances"));
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::InstanceView>>(answer));
  for (const wire::InstanceView& view : page.items) {
    if (view.name == name) return std::optional{view};
  }
  return std::optional<wire::InstanceView>{};
}

}  // namespace

std::string program_version() { return CARDHOUR_VERSION; }

Result<Context> Context::make(const Globals& globals, Language language) {
  Context context;
  context.language = language;
  context.json = globals.json;
  context.yes = globals.yes;
  TRY_ASSIGN(context.directory, config_directory());
  TRY_ASSIGN(context.config, load_config(context.directory));
  const auto asked = globals.server ? globals.server : environment("CARDHOUR_SERVER");
  if (asked) {
    TRY_ASSIGN(context.server, normalize_server(*asked));
  }
  context.profile =
      globals.profile
          ? *globals.profile
          : environment("CARDHOUR_PROFILE").value_or(context.config.current.value_or("default"));
  return context;
}

// A profile's token goes only to that profile's server.
Result<Client::Options> Context::options() const {
  Client::Options options;
  options.language = language;
  options.version = program_version();
  const Profile* known = config.find(profile);
  if (known != nullptr && (!server || *server == known->server)) {
    options.server = known->server;
    options.token = known->token;
    options.fingerprint = known->fingerprint;
  } else if (server) {
    options.server = *server;
  } else {
    return no_login(config, profile);
  }
  if (const auto token = environment("CARDHOUR_TOKEN")) options.token = Secret(*token);
  return options;
}

Result<Client*> Context::open_client() {
  if (client_ == nullptr) {
    TRY_ASSIGN(Client::Options chosen, options());
    use(std::move(chosen));
  }
  return client_.get();
}

Result<Client*> Context::client() {
  TRY_ASSIGN(Client * open, open_client());
  if (open->has_token()) return open;
  return fail(ErrorCode::unauthenticated,
              text("not logged in at {}", "尚未登录 {}", open->server()),
              text("Log in: cardhour login {}", "请先登录：cardhour login {}", open->server()));
}

void Context::use(Client::Options options) {
  client_ = std::make_unique<Client>(std::move(options));
}

const Currency& Context::currency() {
  if (currency_) return *currency_;
  currency_ = Currency{};
  const auto open = open_client();
  if (!open) return *currency_;
  const auto answer = (*open)->get("/version");
  if (!answer) return *currency_;
  if (const auto version = decode<wire::VersionView>(*answer)) {
    currency_ = Currency{version->currency.code, clean(version->currency.symbol),
                         version->currency.decimals};
  }
  return *currency_;
}

void Context::say(const Text& text) const { put(in(text)); }
void Context::put(const std::string& text) const { print(text + "\n"); }
void Context::note(const Text& text) const { remark(in(text) + "\n"); }

Result<bool> Context::confirm(const Text& question) const {
  if (yes) return true;
  if (!input_is_terminal()) {
    return fail(ErrorCode::invalid_argument,
                Text{"this asks first, and nobody is there to answer",
                     "此操作需要确认，但当前没有可以回答的终端"},
                Text{"Add --yes.", "请加上 --yes。"});
  }
  remark(in(question) + (language == Language::zh ? " [y/N，是/否] " : " [y/N] "));
  const std::string answer = read_line();
  return answer == "y" || answer == "Y" || answer == "yes" || answer == "是";
}

Outcome declined(const Context& context) {
  context.note({"Nothing was done.", "未做任何操作。"});
  return kFailed;
}

int report(const Error& error, Language language) {
  remark("cardhour: " + clean_lines(error.what.in(language)) + "\n");
  const std::string& next = error.next.in(language);
  if (!next.empty()) remark("  → " + clean_lines(next) + "\n");
  return error_row(error.code).exit_code;
}

Result<std::string> all_pages(Client& client, const std::string& path, Query query) {
  query["limit"] = std::to_string(limits::kPageMax);
  std::vector<std::string> pages;
  while (pages.size() < kPagesMax) {
    TRY_ASSIGN(std::string page, client.get(path, query));
    TRY_ASSIGN(const std::optional<std::string> next, next_page(page));
    pages.push_back(std::move(page));
    if (!next) break;
    query["after"] = *next;
  }
  return pages.size() == 1 ? std::move(pages.front()) : joined_pages(pages);
}

Result<wire::InstanceView> find_instance(Client& client, const std::string& id_or_name) {
  const auto missing = [&] {
    return fail(ErrorCode::not_found,
                text("there is no instance \"{}\"", "没有实例“{}”", clean(id_or_name)),
                Text{"See what you have: cardhour ls", "查看已有实例：cardhour ls"});
  };
  if (id_or_name.empty()) return missing();
  std::string segment = path_segment(id_or_name);
  if (!fits_path(id_or_name)) {
    TRY_ASSIGN(const auto found, find_in_list(client, id_or_name));
    if (!found) return missing();
    segment = found->id.text;
  }
  Result<std::string> answer = client.get("/instances/" + segment);
  if (!answer && answer.error().code == ErrorCode::not_found) return missing();
  if (!answer) return fail(std::move(answer).error());
  return decode<wire::InstanceView>(*answer);
}

}  // namespace cardhour::cli
