#include "cli/bill.h"

#include <fmt/format.h>

#include "base/enum_text.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

Currency currency_of(const wire::BillView& bill) {
  return Currency{bill.currency.code, clean(bill.currency.symbol), bill.currency.decimals};
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? "," : "") + fields[i];
  return line + "\r\n";  // RFC 4180
}

std::string cause_words(const wire::BillLineView& line, Language language) {
  std::string out = cause_text(line.open_cause).in(language);
  out += " → ";
  return out + (line.close_cause ? cause_text(*line.close_cause).in(language)
                                 : Text{"still running", "仍在运行"}.in(language));
}

// "2 × ¥1.98/h × 3600.000 s = ¥3.96".
std::string formula(const wire::BillLineView& line, const Currency& currency) {
  const wire::BillExplainView& explain = *line.explain;
  if (line.meter == Meter::minimum) return price(currency, explain.recomputed);
  return fmt::format("{} × {} × {}.{:03} s = {}", line.quantity,
                     per_hour(currency, line.rate_per_hour), explain.charged_ms.ms / 1000,
                     explain.charged_ms.ms % 1000, price(currency, explain.recomputed));
}

std::string verdict(const wire::BillLineView& line, const Currency& currency, Language language) {
  const wire::BillExplainView& explain = *line.explain;
  if (explain.agrees) return "✓";
  const std::string booked = price(currency, explain.booked);
  return text("✗ the ledger has {}", "✗ 账本为 {}", booked).in(language);
}

Table lines_table(const wire::BillView& bill, Language language) {
  const Currency currency = currency_of(bill);
  Table table({{{"FROM", "开始"}},
               {{"TO", "结束"}},
               {{"INSTANCE", "实例"}, Align::left, 24},
               {{"WHAT", "项目"}},
               {{"CARDS", "显卡"}},
               {{"PRICE", "单价"}, Align::right},
               {{"AMOUNT", "金额"}, Align::right},
               {{"WHY", "起止原因"}, Align::left, 60}},
              language);
  for (const auto& line : bill.lines) {
    const bool cards = line.meter == Meter::on_demand;
    table.add({local_time(line.opened_at), local_time(line.closed_at), line.instance_name,
               meter_text(line.meter).in(language),
               cards ? fmt::format("{} × {}", line.quantity, line.gpu_model) : "-",
               line.meter == Meter::minimum ? "-" : per_hour(currency, line.rate_per_hour),
               price(currency, line.amount), cause_words(line, language)});
  }
  return table;
}

Table explain_table(const wire::BillView& bill, Language language) {
  const Currency currency = currency_of(bill);
  Table table({{{"SEGMENT", "计费段"}}, {{"HOW", "计算"}, Align::left, 70}, {{"LEDGER", "核对"}}},
              language);
  for (const auto& line : bill.lines) {
    if (!line.explain) continue;
    table.add({line.segment_id.text, formula(line, currency), verdict(line, currency, language)});
  }
  return table;
}

}  // namespace

std::string bill_csv(const wire::BillView& bill) {
  std::string out = csv_line({"segment_id", "instance_id", "instance_name", "run_id", "meter",
                              "gpu_model", "quantity", "rate_per_hour_micro", "unit_ms",
                              "carried_ms", "opened_at", "closed_at", "open_cause", "close_cause",
                              "amount", "amount_micro", "currency", "card_uuids"});
  for (const auto& line : bill.lines) {
    std::string uuids;
    for (const std::string& uuid : line.card_uuids) uuids += (uuids.empty() ? "" : " ") + uuid;
    out += csv_line(
        {line.segment_id.text, line.instance_id.text,
         csv_field(line.instance_name, CsvField::people), line.run_id.text,
         std::string(enum_text(line.meter)), csv_field(line.gpu_model, CsvField::people),
         std::to_string(line.quantity), std::to_string(line.rate_per_hour.micro),
         std::to_string(line.unit_ms.ms), std::to_string(line.carried_ms.ms),
         to_rfc3339(line.opened_at), line.closed_at ? to_rfc3339(*line.closed_at) : "",
         std::string(enum_text(line.open_cause)),
         line.close_cause ? std::string(enum_text(*line.close_cause)) : "", to_decimal(line.amount),
         std::to_string(line.amount.micro), csv_field(bill.currency.code), csv_field(uuids)});
  }
  return out;
}

std::string bill_text(const wire::BillView& bill, Language language) {
  const Currency currency = currency_of(bill);
  std::string out = bill.lines.empty() ? "" : lines_table(bill, language).text() + "\n";
  const std::string card_hours = fmt::format("{}.{:02}", bill.card_time_ms.ms / 3'600'000,
                                             bill.card_time_ms.ms % 3'600'000 * 100 / 3'600'000);
  out += text("Total {}, {} card-hours\n", "合计 {}，{} 卡时\n", format(currency, bill.total),
              card_hours)
             .in(language);
  if (!bill.explained) return out;
  if (!bill.lines.empty()) out += "\n" + explain_table(bill, language).text() + "\n";
  out += bill.agrees ? Text{"Recomputed from start, end, price and cards alone: every line agrees "
                            "with the ledger.\n",
                            "仅由起止时间、单价和卡数复算：每一条都与账本一致。\n"}
                           .in(language)
                     : Text{"Some lines do NOT agree with the ledger (✗): tell the operator.\n",
                            "有条目与账本不一致（✗），请联系运营者。\n"}
                           .in(language);
  return out;
}

}  // namespace cardhour::cli
