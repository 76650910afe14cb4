#include "cli/words.h"

#include <map>

#include "base/enum_text.h"

namespace cardhour::cli {

Text state_text(Observed observed) {
  switch (observed) {
    case Observed::creating:
      return {"creating", "创建中"};
    case Observed::starting:
      return {"starting", "开机中"};
    case Observed::running:
      return {"running", "运行中"};
    case Observed::stopping:
      return {"stopping", "关机中"};
    case Observed::stopped:
      return {"stopped", "已关机"};
    case Observed::releasing:
      return {"releasing", "释放中"};
    case Observed::in_bin:
      return {"in the bin", "回收站"};
    case Observed::purged:
      return {"gone", "已清除"};
  }
  return {"?", "?"};
}

Text phase_text(const std::string& activity) {
  static const std::map<std::string, Text> texts = {
      {"halt", {"ending the earlier run", "结束上一次运行"}},
      {"create", {"making the instance and its disks", "创建实例与磁盘"}},
      {"boot", {"starting it", "启动"}},
      {"await_ready", {"waiting for SSH to answer", "等待 SSH 应答"}},
      {"verify", {"checking that the cards are all there and empty", "核对显卡"}},
      {"shut_down", {"asking it to shut down", "通知系统关机"}},
      {"force", {"pulling the plug", "强制关机"}},
      {"confirm", {"making sure that it is off", "确认已关机"}},
      {"remove", {"deleting its disks", "删除磁盘"}},
      {"deliver", {"handing over a notice", "送达通知"}},
  };
  const auto it = texts.find(activity);
  return it == texts.end() ? Text{activity, activity} : it->second;
}

Text meter_text(Meter meter) {
  switch (meter) {
    case Meter::on_demand:
      return {"cards, on demand", "显卡，按量"};
    case Meter::no_gpu:
      return {"without a card", "无卡模式"};
    case Meter::minimum:
      return {"minimum charge", "最低收费"};
  }
  return {"?", "?"};
}

Text cause_text(Cause cause) {
  switch (cause) {
    case Cause::ready:
      return {"ready", "就绪"};
    case Cause::renter:
      return {"you asked", "您的操作"};
    case Cause::guest_shutdown:
      return {"shut down from inside", "实例内关机"};
    case Cause::arrears:
      return {"the balance reached zero", "余额耗尽"};
    case Cause::vanished:
      return {"stopped outside Cardhour", "在卡时之外被停止"};
    case Cause::host_reboot:
      return {"the host rebooted", "主机重启"};
    case Cause::host_silent:
      return {"the host was silent", "主机失联"};
    case Cause::host_back:
      return {"the host is back", "主机恢复"};
    case Cause::start_failed:
      return {"the start failed", "开机失败"};
    case Cause::restart_failed:
      return {"the restart failed", "重启失败"};
    case Cause::card_fault:
      return {"a card failed", "显卡故障"};
    case Cause::idle:
      return {"it was idle", "空闲"};
    case Cause::expired:
      return {"the time in the bin ended", "回收站到期"};
    case Cause::admin:
      return {"the operator", "运营者操作"};
    case Cause::adopted:
      return {"found in the engine", "在引擎中被发现"};
  }
  return {"?", "?"};
}

Text transaction_text(TransactionKind kind) {
  switch (kind) {
    case TransactionKind::topup:
      return {"top-up", "充值"};
    case TransactionKind::usage:
      return {"usage", "消费"};
    case TransactionKind::hold:
      return {"held until ready", "开机预留"};
    case TransactionKind::hold_release:
      return {"hold given back", "预留退回"};
    case TransactionKind::adjustment:
      return {"adjustment", "调整"};
  }
  return {"?", "?"};
}

Text event_text(const std::string& kind) {
  static const std::map<std::string, Text> texts = {
      {"account.created", {"account made", "创建账户"}},
      {"account.login", {"logged in", "登录"}},
      {"account.password_changed", {"password changed", "修改密码"}},
      {"card.quarantined", {"card out of the market", "显卡已隔离"}},
      {"card.excluded", {"card kept out of the market", "显卡已排除"}},
      {"card.returned", {"card back in the market", "显卡已恢复出租"}},
      {"card.unfit", {"card not for rent now", "显卡暂不可租"}},
      {"card.fit", {"card for rent again", "显卡恢复可租"}},
      {"card.xid", {"the driver reports an error", "驱动报告错误"}},
      {"driver.silent", {"the driver does not answer", "驱动没有应答"}},
      {"driver.answers", {"the driver answers again", "驱动恢复应答"}},
      {"host.silent", {"host silent", "主机失联"}},
      {"instance.busy", {"active again, warning taken back", "恢复活动，警告已撤回"}},
      {"instance.finding", {"something is wrong", "发现问题"}},
      {"instance.idle", {"idle", "空闲"}},
      {"instance.idle_rule", {"idle rule", "空闲规则"}},
      {"backup.made", {"database backed up", "数据库已备份"}},
      {"instance.adopted", {"found in the engine, not charged", "在引擎中被发现，暂不计费"}},
      {"instance.kept", {"given to its renter, charged from now", "已归还租户，开始计费"}},
      {"instance.renumbered", {"new port and address", "更换端口与地址"}},
      {"instance.creating", {"being made", "创建中"}},
      {"instance.starting", {"starting", "开机中"}},
      {"instance.running", {"ready", "已就绪"}},
      {"instance.restarting", {"restarting", "重启中"}},
      {"instance.restarted", {"ready again", "已重启"}},
      {"instance.rebooting", {"rebooting from inside", "实例内重启"}},
      {"instance.stopping", {"stopping", "关机中"}},
      {"instance.stopped", {"stopped", "已关机"}},
      {"instance.stray", {"ran though it should not", "不应运行却在运行"}},
      {"instance.unreachable", {"host silent, charging paused", "主机失联，暂停计费"}},
      {"instance.reachable", {"host is back", "主机恢复"}},
      {"instance.notice", {"notice: will be stopped", "通知：即将关机"}},
      {"instance.notice_withdrawn", {"notice withdrawn", "通知已撤回"}},
      {"instance.releasing", {"being released", "释放中"}},
      {"instance.in_bin", {"in the bin", "进入回收站"}},
      {"instance.restored", {"restored", "已恢复"}},
      {"instance.purging", {"being deleted", "清除中"}},
      {"instance.purged", {"gone for good", "已彻底清除"}},
      {"instance.renamed", {"renamed", "已重命名"}},
      {"invitation.created", {"invitation made", "生成邀请码"}},
      {"price.set", {"price set", "设定价格"}},
      {"ssh_key.added", {"SSH key added", "添加公钥"}},
      {"ssh_key.deleted", {"SSH key removed", "删除公钥"}},
      {"terminal.opened", {"terminal opened", "打开终端"}},
      {"terminal.closed", {"terminal closed", "终端已关闭"}},
      {"token.created", {"token made", "创建令牌"}},
      {"token.deleted", {"token revoked", "吊销令牌"}},
      {"wallet.topup", {"topped up", "充值"}},
  };
  const auto it = texts.find(kind);
  return it == texts.end() ? Text{kind, kind} : it->second;
}

Text reason_text(const std::string& reason) {
  static const std::map<std::string, Text> texts = {
      {"stopped", {"stopped", "已关机"}},
      {"restored", {"the database was restored", "数据库已从备份恢复"}},
      {"released", {"released", "已释放"}},
      {"login", {"login", "登录"}},
  };
  const auto it = texts.find(reason);
  if (it != texts.end()) return it->second;
  const auto cause = enum_from<Cause>(reason);
  return cause ? cause_text(*cause) : Text{reason, reason};
}

}  // namespace cardhour::cli
