// rent.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/limits.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "cli/quote.h"
#include "cli/ssh.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

tl::unexpected<Error> nothing_free(int count, bool some_model_fits) {
  if (!some_model_fits) {
    return fail(ErrorCode::no_capacity,
                Text{"no card here has that much VRAM", "这里没有显存足够的显卡"},
                Text{"See what there is: cardhour offers", "查看现有显卡：cardhour offers"});
  }
  return fail(ErrorCode::no_capacity,
              text("no host has {} such cards free now", "目前没有主机空闲 {} 张这样的显卡", count),
              Text{"Look again later (cardhour offers), or start without a card: "
                   "cardhour rent --mode no-gpu",
                   "请稍后再看（cardhour offers），或先用无卡模式：cardhour rent --mode no-gpu"});
}

// The cheapest model with enough VRAM and enough free cards on one host.
Result<std::string> choose_model(Client& client, int64_t vram_bytes_min, int count) {
  Query query;
  if (vram_bytes_min > 0) query["vram"] = std::to_string(vram_bytes_min);
  TRY_ASSIGN(const std::string answer, client.get("/offers", query));
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::OfferView>>(answer));
  const wire::OfferView* best = nullptr;
  for (const auto& offer : page.items) {
    if (!offer.reachable || offer.cards_free < count) continue;
    if (best == nullptr || offer.on_demand_per_hour < best->on_demand_per_hour) best = &offer;
  }
  if (best == nullptr) return nothing_free(count, !page.items.empty());
  return best->model;
}

Result<wire::RentRequest> request_of(Client& client, const Arguments& arguments) {
  wire::RentRequest request;
  request.mode = arguments.text("--mode") == "no-gpu" ? Mode::no_gpu : Mode::on_demand;
  TRY_ASSIGN(const auto count, arguments.number("--count", 1, limits::kCardsPerInstanceMax));
  request.gpu_count = static_cast<int>(count.value_or(1));
  request.name = arguments.text("--name");
  request.image = arguments.find("--image").value_or(request.image);
  request.purpose = arguments.text("--for");
  request.nesting = arguments.has("--nesting");
  if (const auto disk = arguments.find("--data-disk")) {
    TRY_ASSIGN(request.data_disk_bytes, parse_gib("--data-disk", *disk));
  }
  if (request.mode == Mode::no_gpu) {
    if (arguments.has("--gpu") || arguments.has("--vram") || count) {
      return invalid("--mode", Text{"no-GPU mode has no cards to choose", "无卡模式不能选择显卡"},
                     Text{"Leave --gpu, --vram and -n out; choose a card at start.",
                          "请去掉 --gpu、--vram 和 -n，以后开机时再选显卡。"});
    }
    request.gpu_count = 0;
    return request;
  }
  int64_t vram = 0;
  if (const auto typed = arguments.find("--vram")) {
    TRY_ASSIGN(vram, parse_gib("--vram", *typed));
  }
  if (const auto model = arguments.find("--gpu")) {
    request.gpu_model = *model;
    return request;
  }
  TRY_ASSIGN(request.gpu_model, choose_model(client, vram, request.gpu_count));
  return request;
}

enum class Keys { known, none };

// Without a key one would have to type the instance's password: the usual public key is
// added when the account has none.
Result<Keys> ensure_key(const Context& context, Client& client) {
  TRY_ASSIGN(const std::string answer, client.get("/ssh-keys"));
  TRY_ASSIGN(const auto keys, decode<wire::Page<wire::SshKeyView>>(answer));
  if (!keys.items.empty()) return Keys::known;
  const char* home = std::getenv("HOME");
  for (const char* name : {"id_ed25519.pub", "id_rsa.pub"}) {
    const std::string path = std::string(home == nullptr ? "" : home) + "/.ssh/" + name;
    const Result<std::optional<std::string>> line = read_file(path);
    if (!line || !*line) continue;
    std::string key = **line;
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
    const auto added = client.post("/ssh-keys", encode(wire::SshKeyRequest{key, {}}));
    if (!added) continue;  // e.g. too weak for the server
    context.note(text("Added your key {} to the account.", "已将您的公钥 {} 添加到账户。", path));
    return Keys::known;
  }
  context.note(
      {"You have no SSH key: a password will do. Better: ssh-keygen -t ed25519, then "
       "cardhour ssh-key add ~/.ssh/id_ed25519.pub",
       "您没有 SSH 公钥，将使用密码登录。建议：ssh-keygen -t ed25519，然后 "
       "cardhour ssh-key add ~/.ssh/id_ed25519.pub"});
  return Keys::none;
}

void print_ready(Context& context, const Waited& waited, Keys keys) {
  const wire::InstanceView& view = waited.view;
  const std::string took =
      fmt::format("{}.{} s", waited.elapsed.ms / 1000, waited.elapsed.ms % 1000 / 100);
  const std::string mark = view.simulated ? std::string("   ") + kSimulatedMark : "";
  context.say(text("{} is ready after {}. It costs {} from now on.{}",
                   "{} 已就绪，用时 {}。从现在起每小时 {}。{}", clean(view.name), took,
                   context.language == Language::zh
                       ? price(context.currency(), view.rate_per_hour)
                       : per_hour(context.currency(), view.rate_per_hour),
                   mark));
  Facts facts(context.language);
  add_connection(view, keys == Keys::none ? Password::show : Password::hide, facts);
  print(facts.text());
  context.note(text("Next: cardhour ssh {0} · cardhour show {0} · cardhour stop {0}",
                    "接下来：cardhour ssh {0} · cardhour show {0} · cardhour stop {0}",
                    shell_quoted(clean(view.name))));
}

Outcome rent(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::RentRequest request, request_of(*client, arguments));
  TRY_ASSIGN(const std::string quoted, client->post("/instances/quote", encode(request)));
  TRY_ASSIGN(const auto quote, decode<wire::QuoteView>(quoted));
  remark(quote_text(context, quote, request.image));
  TRY(check_quote(context, quote));
  TRY_ASSIGN(const bool agreed, context.confirm({"Rent it?", "确认租用？"}));
  if (!agreed) return declined(context);
  TRY_ASSIGN(const Keys keys, ensure_key(context, *client));
  TRY_ASSIGN(const std::string answer,
             client->post("/instances", encode(request), Effect::creates_or_pays));
  TRY_ASSIGN(const auto made, decode<wire::InstanceView>(answer));
  if (arguments.has("--no-wait")) {
    context.put(context.json ? answer : made.id.text);
    return kDone;
  }
  context.note(text("{} ({})", "{}（{}）", clean(made.name), made.id.text));
  TRY_ASSIGN(const Waited waited, wait_until_settled(context, *client, made));
  if (waited.interrupted) return interrupted(context, made);
  TRY(check_outcome(waited.view, Observed::running));
  if (arguments.has("--ssh")) return enter(context, waited.view, {});
  if (context.json) {
    context.put(waited.json);
    return kDone;
  }
  print_ready(context, waited, keys);
  return kDone;
}

}  // namespace

void add_rent_commands(std::vector<Command>& to) {
  to.push_back(
      {.path = "rent",
       .group = Group::instances,
       .summary = {"rent: shows the price, asks, waits, says how to connect",
                   "租用：先报价，确认后创建，就绪后给出连接方式"},
       .options = {{"--gpu",
                    "4090",
                    {"the model; else the cheapest that is free", "型号，默认选空闲中最便宜的"}},
                   {"-n,--count", "N", {"cards; 1 if absent", "卡数，默认 1"}},
                   {"--vram", "24G", {"at least this much per card", "每卡显存至少"}},
                   {"--image",
                    "NAME",
                    {"see cardhour images; base if absent", "见 cardhour images，默认 base"}},
                   {"--name", "NAME", {"what to call it", "实例名称"}},
                   {"--data-disk",
                    "100G",
                    {"data disk; else the free size", "数据盘容量，默认为免费额度"}},
                   {"--mode",
                    "on-demand|no-gpu",
                    {"no-gpu: cheap, for code and downloads; add cards later with start",
                     "no-gpu 为无卡模式，适合写代码和下载，以后开机时再加卡"},
                    {"on-demand", "no-gpu"}},
                   {"--for", "TEXT", {"what you rent it for", "用途说明"}},
                   {"--nesting", "", {"Docker inside", "允许在实例内运行 Docker"}},
                   {"--ssh", "", {"go straight in", "就绪后直接登录"}},
                   {"--no-wait", "", {"only print the ID", "不等待，只输出 ID"}}},
       .examples = {{"cardhour rent --gpu 4090 --name train --ssh", {"", ""}},
                    {"cardhour rent --vram 24G --yes --json",
                     {"the cheapest that fits, for a script", "脚本中租用最便宜的合适显卡"}},
                    {"cardhour rent --mode no-gpu --name dev",
                     {"prepare without a card, then: cardhour start dev --gpu 4090",
                      "先无卡准备环境，再 cardhour start dev --gpu 4090"}}},
       .run = rent});
}

}  // namespace cardhour::cli
