#include "cli/quote.h"

#include <fmt/format.h>

#include "base/size.h"
#include "cli/format.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

std::string unit_text(const Context& context, Duration unit) {
  if (unit.ms <= 1000) return context.in({"by the second", "按秒计费"});
  const std::string length = for_people(unit, context.language);
  return context.in(text("in units of {}", "以 {} 为单位计费", length));
}

}  // namespace

std::string cards_text(const Context& context, Mode mode, const std::string& model, int count) {
  if (mode == Mode::no_gpu) return context.in({"no card", "无卡"});
  return fmt::format("{} × {}", count, model);
}

std::string quote_text(Context& context, const wire::QuoteView& quote, const std::string& image) {
  const Currency& currency = context.currency();
  Facts facts(context.language);
  facts.add({"cards", "显卡"}, cards_text(context, quote.mode, quote.gpu_model, quote.gpu_count) +
                                   (quote.simulated ? std::string("   ") + kSimulatedMark : ""));
  if (quote.millicores > 0)
    facts.add({"CPU, RAM", "CPU、内存"},
              context.in(text("{} cores, {}", "{} 核，{}", cores(quote.millicores),
                              for_people_bytes(quote.memory_bytes))));
  facts.add({"disks", "磁盘"}, context.in(text("{} system, {} data", "系统盘 {}，数据盘 {}",
                                               for_people_bytes(quote.system_disk_bytes),
                                               for_people_bytes(quote.data_disk_bytes))));
  facts.add({"image", "镜像"}, image);
  const std::string unit = unit_text(context, quote.minimum_unit_ms);
  facts.add({"price", "价格"},
            context.in(text("{}, {}, from ready until you stop it", "{}，{}，从就绪到关机",
                            per_hour(currency, quote.rate_per_hour), unit)));
  facts.add({"held", "预留"}, context.in(text("{} until it is ready, then given back",
                                              "{}，就绪后退回", price(currency, quote.hold))));
  facts.add({"when stopped", "关机后"},
            context.in(stopped_cost_text(context, quote.stopped_per_day)));
  std::string balance = format(currency, quote.available);
  if (quote.rate_per_hour.micro > 0 && quote.available.micro > 0) {
    const Duration lasts = affordable(quote.rate_per_hour, quote.available);
    balance += context.in(text(", lasts {} at this price alone", "，仅此一项可用 {}",
                               for_people(lasts, context.language)));
  }
  facts.add({"balance", "可用余额"}, balance);
  return facts.text();
}

Status check_quote(Context& context, const wire::QuoteView& quote) {
  if (!quote.affordable) {
    return fail(
        ErrorCode::insufficient_balance,
        text("this needs {} available (an hour of all that runs), and there is {}: {} are missing",
             "需要可用余额 {}（全部运行一小时的费用），现有 {}，还差 {}",
             format(context.currency(), quote.needed), format(context.currency(), quote.available),
             format(context.currency(), quote.needed - quote.available)),
        Text{"Top up, stop something, or choose a cheaper card: cardhour offers",
             "请充值、关掉其他实例，或选更便宜的显卡：cardhour offers"});
  }
  if (quote.placeable) return {};
  if (quote.gpu_count > 0 && quote.cards_free >= quote.gpu_count) {
    return fail(
        ErrorCode::no_capacity,
        Text{"cards are free, but no host has room for these disks",
             "有空闲显卡，但没有主机能容纳这些磁盘"},
        Text{"Take a smaller data disk: --data-disk 10G", "请选择较小的数据盘：--data-disk 10G"});
  }
  return fail(
      ErrorCode::no_capacity,
      text("no host can give {} now (free on the best one: {})",
           "目前没有主机能提供 {}（最好的一台空闲 {} 张）",
           cards_text(context, quote.mode, quote.gpu_model, quote.gpu_count), quote.cards_free),
      Text{"See what is free: cardhour offers", "查看空闲显卡：cardhour offers"});
}

Text stopped_cost_text(Context& context, Money stopped_per_day) {
  if (stopped_per_day.micro == 0) {
    return {"the disks stay and cost nothing", "保留磁盘，不收费"};
  }
  return text("the disks stay and go on costing {} a day", "保留磁盘，磁盘费用每天 {}",
              price(context.currency(), stopped_per_day));
}

void add_connection(const wire::InstanceView& view, Password password, Facts& facts) {
  if (!view.connection) {
    facts.add({"ssh", "SSH"}, Text{"none: the engine is simulated, or this login may not see it",
                                   "无：引擎为模拟，或当前登录无权查看"});
    return;
  }
  facts.add({"ssh", "SSH"}, view.connection->ssh_command);
  facts.add({"host key", "主机密钥"}, view.connection->host_key_fingerprint);
  if (password == Password::show) {
    facts.add({"password", "密码"}, view.connection->password.reveal());
  }
}

}  // namespace cardhour::cli
