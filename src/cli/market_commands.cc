// offers, prices, models, images.
#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/market.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

using Offers = std::vector<wire::OfferView>;

void sort_offers(Offers& offers, const std::string& by) {
  const auto dearer = [](const wire::OfferView& a, const wire::OfferView& b) {
    return a.on_demand_per_hour < b.on_demand_per_hour;
  };
  std::stable_sort(offers.begin(), offers.end(), dearer);
  if (by == "vram") {
    std::stable_sort(offers.begin(), offers.end(), [](const auto& a, const auto& b) {
      return a.gpu.vram_bytes > b.gpu.vram_bytes;
    });
  }
  if (by == "free") {
    std::stable_sort(offers.begin(), offers.end(),
                     [](const auto& a, const auto& b) { return a.cards_free > b.cards_free; });
  }
}

std::string remarks_of(const wire::OfferView& offer, const Context& context) {
  std::string out = offer.simulated ? std::string(kSimulatedMark) : "";
  const auto add = [&](const std::string& remark) {
    if (!remark.empty()) out += (out.empty() ? "" : "; ") + remark;
  };
  if (!offer.reachable) add(context.in({"host silent", "主机失联"}));
  add(offer.gpu.warning);
  return out;
}

Table offer_table(const Offers& offers, Context& context) {
  Table table({{{"GPU", "显卡"}},
               {{"VRAM", "显存"}, Align::right},
               {{"FREE", "空闲"}, Align::right},
               {{"PER CARD", "每卡价格"}, Align::right},
               {{"CPU", "CPU 核"}, Align::right},
               {{"RAM", "内存"}, Align::right},
               {{"DISK LEFT", "剩余磁盘"}, Align::right},
               {{"FP16", "FP16"}, Align::right},
               {{"BANDWIDTH", "显存带宽"}, Align::right},
               {{"DRIVER/CUDA", "驱动/CUDA"}},
               {{"HOST", "主机"}},
               {{"", ""}, Align::left, 60}},
              context.language);
  for (const auto& offer : offers) {
    table.add(
        {offer.model, for_people_bytes(offer.gpu.vram_bytes),
         fmt::format("{}/{}", offer.cards_free, offer.cards_total),
         per_hour(context.currency(), offer.on_demand_per_hour), cores(offer.millicores_per_card),
         for_people_bytes(offer.memory_per_card_bytes), for_people_bytes(offer.disk_free_bytes),
         fmt::format("{:.0f} T", offer.gpu.fp16_tflops),
         fmt::format("{:.0f} GB/s", offer.gpu.bandwidth_gb_per_s),
         offer.driver_version + "/" + offer.cuda_version, offer.host, remarks_of(offer, context)});
  }
  return table;
}

Outcome offers(Context& context, const Arguments& arguments) {
  Query query;
  if (const auto vram = arguments.find("--vram")) {
    TRY_ASSIGN(const int64_t bytes, parse_gib("--vram", *vram));
    query["vram"] = std::to_string(bytes);
  }
  if (const auto model = arguments.find("--model")) query["model"] = *model;
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/offers", query));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(auto page, decode<wire::Page<wire::OfferView>>(answer));
  if (page.items.empty()) {
    context.note(query.empty() ? Text{"No cards are for rent here yet.", "目前没有可租的显卡。"}
                               : Text{"Nothing fits. Everything: cardhour offers",
                                      "没有符合条件的显卡。查看全部：cardhour offers"});
    return kDone;
  }
  sort_offers(page.items, arguments.find("--sort").value_or("price"));
  print(offer_table(page.items, context).text());
  context.note(text("Without a card (for code and downloads): {}. Rent: cardhour rent --gpu {}",
                    "无卡模式（写代码、下载）：{}。租用：cardhour rent --gpu {}",
                    per_hour(context.currency(), page.items.front().no_gpu_per_hour),
                    clean(page.items.front().model)));
  return kDone;
}

Outcome models(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/gpu-models"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::GpuModelView>>(answer));
  Table table({{{"MODEL", "型号"}},
               {{"VRAM", "显存"}, Align::right},
               {{"BANDWIDTH", "显存带宽"}, Align::right},
               {{"FP32", "FP32"}, Align::right},
               {{"FP16", "FP16"}, Align::right},
               {{"INT8", "INT8"}, Align::right},
               {{"INTERCONNECT", "互联"}},
               {{"CC", "CC"}, Align::right},
               {{"PRICE", "价格"}, Align::right},
               {{"", ""}, Align::left, 60}},
              context.language);
  for (const auto& model : page.items) {
    table.add(
        {model.key, for_people_bytes(model.vram_bytes),
         fmt::format("{:.0f} GB/s", model.bandwidth_gb_per_s),
         fmt::format("{:.1f} T", model.fp32_tflops), fmt::format("{:.0f} T", model.fp16_tflops),
         fmt::format("{:.0f} T", model.int8_tops), model.interconnect, model.compute_capability,
         model.on_demand_per_hour ? per_hour(context.currency(), *model.on_demand_per_hour) : "-",
         model.warning});
  }
  print(table.text());
  context.note(
      {"Published figures; VRAM decides whether a model fits, bandwidth how fast it "
       "answers. Sources: cardhour models --json",
       "均为公开参数；显存决定能否装下模型，带宽决定推理速度。来源：cardhour models --json"});
  return kDone;
}

Outcome images(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/images"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::ImageView>>(answer));
  if (page.items.empty()) {
    context.note({"The operator has not built any image yet.", "运营者还没有制作镜像。"});
  }
  for (const auto& image : page.items) context.put(clean(image.name));
  return kDone;
}

}  // namespace

Outcome show_prices(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/prices"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::PriceView>>(answer));
  Table table({{{"GPU", "显卡"}}, {{"MODE", "模式"}}, {{"PER HOUR", "每小时"}, Align::right}},
              context.language);
  for (const auto& row : page.items) {
    const bool no_gpu = row.mode == Mode::no_gpu;
    table.add({no_gpu ? "-" : row.model,
               context.in(no_gpu ? Text{"without a card", "无卡"} : Text{"on demand", "按量"}),
               price(context.currency(), row.per_hour)});
  }
  print(table.text());
  return kDone;
}

void add_market_commands(std::vector<Command>& to) {
  to.push_back(
      {.path = "offers",
       .group = Group::market,
       .summary = {"cards for rent: free ones, price, VRAM", "可租的显卡：空闲、价格、显存"},
       .options = {{"--vram", "24G", {"at least this much VRAM", "显存至少"}},
                   {"--model", "4090", {"only this model", "仅此型号"}},
                   {"--sort",
                    "price|vram|free",
                    {"order; price if absent", "排序，默认按价格"},
                    {"price", "vram", "free"}}},
       .examples = {{"cardhour offers --vram 24G --sort price",
                     {"what fits a 7B model in FP16", "能装下 7B FP16 模型的显卡"}}},
       .run = offers});
  to.push_back({.path = "prices",
                .group = Group::market,
                .summary = {"the price book", "价目表"},
                .run = show_prices});
  to.push_back({.path = "models",
                .group = Group::market,
                .summary = {"GPU models with published figures", "GPU 型号与公开参数"},
                .run = models});
  to.push_back({.path = "images",
                .group = Group::market,
                .summary = {"images to start from", "可用的镜像"},
                .run = images});
}

}  // namespace cardhour::cli
