// ssh, and how other commands get into an instance.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/command.h"
#include "cli/decode.h"
#include "cli/progress.h"
#include "cli/ssh.h"
#include "cli/terminal.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

bool is_base64(const std::string& text) {
  return !text.empty() && text.find_first_not_of(
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                              "0123456789+/=") == std::string::npos;
}

tl::unexpected<Error> not_running(const wire::InstanceView& view) {
  const Text state = state_text(view.observed);
  return fail(
      ErrorCode::conflict,
      Text{view.name + " is not running: " + state.en, view.name + " 没有运行：" + state.zh},
      text("Start it: cardhour start {}", "开机：cardhour start {}", view.id.text));
}

Outcome ssh(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  const bool coming = view.desired == Desired::running && !view.settled;
  if (coming) {
    TRY_ASSIGN(const Waited waited, wait_until_settled(context, *client, view));
    if (waited.interrupted) return interrupted(context, view);
    view = waited.view;
  }
  return enter(context, view, arguments.all("COMMAND"));
}

}  // namespace

Result<std::string> known_hosts_entry(const std::string& id, const std::string& line) {
  const auto words = path_words(line);
  const auto type = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("ssh-") || word.starts_with("ecdsa-");
  });
  if (type != words.end() && type + 1 != words.end() && is_base64(*(type + 1))) {
    return id + " " + *type + " " + *(type + 1) + "\n";
  }
  return fail(ErrorCode::internal,
              Text{"the server's host key of the instance cannot be read",
                   "无法读取服务器给出的实例主机密钥"},
              Text{"Use the CLI of the server's version (cardhour version).",
                   "请使用与服务器版本一致的命令行程序（cardhour version）。"});
}

std::vector<std::string> ssh_words(const wire::InstanceView& view, const std::string& known_hosts,
                                   const std::vector<std::string>& command) {
  const wire::ConnectionView& to = *view.connection;
  std::vector<std::string> words = {"ssh",
                                    "-o",
                                    "UserKnownHostsFile=\"" + known_hosts + "\"",
                                    "-o",
                                    "GlobalKnownHostsFile=/dev/null",
                                    "-o",
                                    "HostKeyAlias=" + view.id.text,
                                    "-o",
                                    "StrictHostKeyChecking=yes",
                                    "-o",
                                    "UpdateHostKeys=no",
                                    "-p",
                                    std::to_string(to.port),
                                    "-l",
                                    to.user,
                                    "--",
                                    to.host};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Outcome enter(Context& context, const wire::InstanceView& view,
              const std::vector<std::string>& command) {
  if (view.observed != Observed::running) return not_running(view);
  if (!view.connection) {
    return fail(ErrorCode::forbidden,
                Text{"this login may not see how to reach " + view.name,
                     "当前登录无权查看如何连接 " + view.name},
                Text{"It needs the scope \"instances\", and the instance must be your own; a "
                     "server with a simulated engine has no shell at all.",
                     "需要 instances 权限，且实例属于您本人；使用模拟引擎的服务器没有 shell。"});
  }
  TRY_ASSIGN(const std::string entry,
             known_hosts_entry(view.id.text, view.connection->known_hosts_line));
  const std::string directory = context.directory + "/known_hosts";
  TRY(write_private_file(directory, view.id.text, entry));
  std::vector<std::string> words = ssh_words(view, directory + "/" + view.id.text, command);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp("ssh", argv.data());
  const std::string why = std::strerror(errno);
  return fail(ErrorCode::internal, text("cannot run ssh: {}", "无法运行 ssh：{}", why),
              Text{"Install an OpenSSH client.", "请安装 OpenSSH 客户端。"});
}

void add_ssh_commands(std::vector<Command>& to) {
  to.push_back(
      {.path = "ssh",
       .group = Group::instances,
       .summary = {"into an instance; or run a command there", "登录实例，或在其中执行命令"},
       .positionals = {{"ID", {"the instance's ID or name", "实例 ID 或名称"}},
                       {"COMMAND",
                        {"after --, as for ssh", "写在 -- 之后，用法同 ssh"},
                        Positional::Need::rest}},
       .examples = {{"cardhour ssh train", {"", ""}},
                    {"cardhour ssh train -- nvidia-smi",
                     {"its exit code is the command's", "退出码即该命令的退出码"}}},
       .run = ssh});
}

}  // namespace cardhour::cli
