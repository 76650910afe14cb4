#include "app/terminals.h"

#include <algorithm>
#include <utility>

#include "app/events.h"
#include "app/secrets.h"
#include "base/enum_text.h"
#include "base/limits.h"

namespace cardhour {
namespace {

constexpr size_t kPieceBytes = 64 * 1024;  // to and from a shell at once
// Trimming moves the rest: not for every few bytes.
constexpr size_t kTrimBytes = limits::kTerminalOutputBytes / 2;

tl::unexpected<Error> no_terminal() {
  return fail(ErrorCode::not_found, Text{"no such terminal, or it ended", "终端不存在或已结束"},
              Text{"open a new one", "请打开新的终端"});
}

}  // namespace

// ---- one terminal ----

Terminal::Terminal(About about, TokenId session, Shells& shells, Clock& clock, ShellSize size)
    : about_(std::move(about)),
      shells_(shells),
      clock_(clock),
      session_(std::move(session)),
      size_(size),
      detached_at_(about_.opened_at) {}

Result<Terminal::Attached> Terminal::attach(std::optional<int64_t> from,
                                            std::function<void()> wake) {
  Attached attached;
  std::function<void()> replaced;
  bool open = false;
  {
    const std::lock_guard lock(mutex_);
    const int64_t total = begin_ + static_cast<int64_t>(output_.size());
    if (from && (*from < 0 || *from > total)) {
      return invalid("from",
                     text("there are {} bytes of output so far", "目前共有 {} 字节输出", total));
    }
    position_ = std::max(from.value_or(begin_), begin_);
    replaced = std::exchange(wake_, std::move(wake));
    reader_ = ++readers_;
    detached_at_.reset();
    attached = {reader_, position_};
    open = !std::exchange(opened_, true) && !end_;
  }
  if (replaced) replaced();
  if (open) {
    std::shared_ptr<Shell> shell = shells_.open(about_.instance, size_);
    const std::lock_guard lock(mutex_);
    if (!end_) shell_ = std::move(shell);
  }
  pump();
  flush();
  return attached;
}

void Terminal::detach(uint64_t reader) {
  {
    const std::lock_guard lock(mutex_);
    if (reader != reader_ || reader == 0) return;
    reader_ = 0;
    wake_ = nullptr;
    detached_at_ = clock_.now();
  }
  pump();  // it runs on unseen
}

Terminal::Taken Terminal::take(uint64_t reader, size_t bytes_max) {
  Taken taken;
  {
    const std::lock_guard lock(mutex_);
    if (reader != reader_) {
      taken.replaced = true;
      return taken;
    }
    taken.bytes = output_.substr(static_cast<size_t>(position_ - begin_), bytes_max);
    position_ += static_cast<int64_t>(taken.bytes.size());
    if (taken.bytes.empty() && end_) {
      taken.end = end_;
      end_was_read_ = true;
    }
  }
  if (!taken.bytes.empty()) pump();
  return taken;
}

bool Terminal::write(uint64_t reader, std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (reader != reader_ || end_) return true;  // to nobody
    if (!input_.empty() && input_.size() + bytes.size() > limits::kTerminalInputBytes) {
      input_was_refused_ = true;
      return false;
    }
    input_ += bytes;
  }
  flush();
  return true;
}

void Terminal::resize(uint64_t reader, ShellSize size) {
  std::shared_ptr<Shell> shell;
  {
    const std::lock_guard lock(mutex_);
    if (reader != reader_) return;
    size_ = size;
    shell = shell_;
  }
  if (shell) shell->resize(size);
}

void Terminal::finish(TerminalEnd end) {
  std::shared_ptr<Shell> shell;
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (end_) return;
    end_ = std::move(end);
    ended_at_ = clock_.now();
    shell = std::move(shell_);
    wake = wake_;
  }
  if (shell) shell->end();
  if (wake) wake();
}

Terminal::State Terminal::state() {
  const std::lock_guard lock(mutex_);
  State state;
  state.session = session_;
  state.attached = reader_ != 0;
  state.output_bytes = begin_ + static_cast<int64_t>(output_.size());
  state.detached_at = detached_at_;
  state.ended_at = ended_at_;
  state.end = end_;
  state.end_was_read = end_was_read_;
  return state;
}

void Terminal::belong_to(const TokenId& session) {
  const std::lock_guard lock(mutex_);
  session_ = session;
}

void Terminal::pump() {
  std::shared_ptr<Shell> shell;
  {
    const std::lock_guard lock(mutex_);
    if (reading_ || !shell_ || !has_room()) return;
    reading_ = true;
    shell = shell_;
  }
  shell->read([weak = weak_from_this()](ShellOutput output) {
    if (const auto self = weak.lock()) self->was_read(std::move(output));
  });
}

void Terminal::was_read(ShellOutput output) {
  std::shared_ptr<Shell> ended;
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (end_) return;
    output_ += output.bytes;
    trim();
    if (output.bytes.empty()) {
      const Text ended_itself{"the shell ended", "终端进程已退出"};
      end_ = TerminalEnd{TerminalFate::exited, output.exit_code,
                         output.failure ? output.failure->what : ended_itself};
      ended_at_ = clock_.now();
      ended = std::move(shell_);
    }
    wake = wake_;
  }
  if (wake) wake();
  pump();
}

void Terminal::flush() {
  std::shared_ptr<Shell> shell;
  std::string piece;
  {
    const std::lock_guard lock(mutex_);
    if (writing_ || !shell_ || input_.empty()) return;
    writing_ = true;
    shell = shell_;
    piece = input_.substr(0, kPieceBytes);
    input_.erase(0, piece.size());
  }
  shell->write(std::move(piece), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    std::function<void()> wake;
    {
      const std::lock_guard lock(self->mutex_);
      self->writing_ = false;
      if (std::exchange(self->input_was_refused_, false)) wake = self->wake_;
    }
    if (wake) wake();
    self->flush();
  });
}

bool Terminal::has_room() const {
  const int64_t unsent = begin_ + static_cast<int64_t>(output_.size()) - position_;
  return reader_ == 0 || unsent < static_cast<int64_t>(limits::kTerminalOutputBytes);
}

// What a reader has not had stays; has_room() bounds that.
void Terminal::trim() {
  if (output_.size() < limits::kTerminalOutputBytes + kTrimBytes) return;
  size_t cut = output_.size() - limits::kTerminalOutputBytes;
  if (reader_ != 0) cut = std::min(cut, static_cast<size_t>(position_ - begin_));
  output_.erase(0, cut);
  begin_ += static_cast<int64_t>(cut);
}

// ---- all of them ----

Result<Instance> Terminals::check(const Actor& actor, const std::string& instance) {
  TRY_ASSIGN(const InstanceView view, instances_.get(actor, instance));
  if (view.instance.account_id != actor.account) {
    return fail(ErrorCode::not_found, Text{"no such instance", "没有该实例"},
                Text{"only its renter may open a terminal", "只有租用者可以打开终端"});
  }
  if (view.instance.observed != Observed::running) {
    return fail(ErrorCode::conflict, Text{"the instance is not running", "实例未在运行"},
                Text{"start it first", "请先开机"});
  }
  if (deps_.shells == nullptr) {
    return fail(ErrorCode::conflict, Text{"this server has no terminals", "此服务器不提供终端"});
  }
  return view.instance;
}

Status Terminals::check_room(const AccountId& account, const InstanceId& instance) {
  size_t everybodys = 0;
  size_t accounts = 0;
  size_t instances = 0;
  for (const auto& [id, terminal] : terminals_) {
    if (terminal->state().end) continue;
    ++everybodys;
    if (terminal->about().account == account) ++accounts;
    if (terminal->about().instance == instance) ++instances;
  }
  if (instances >= limits::kTerminalsPerInstance || accounts >= limits::kTerminalsPerAccount) {
    return fail(ErrorCode::quota_exceeded,
                text("at most {} terminals an instance and {} an account",
                     "每个实例最多 {} 个终端，每个账户最多 {} 个", limits::kTerminalsPerInstance,
                     limits::kTerminalsPerAccount),
                Text{"close one first", "请先关闭一个"});
  }
  if (everybodys >= limits::kTerminals) {
    return fail(ErrorCode::overloaded, Text{"too many terminals are open here", "打开的终端过多"},
                Text{"try again later", "请稍后重试"});
  }
  return {};
}

Result<std::shared_ptr<Terminal>> Terminals::open(const Actor& actor, const TokenId& session,
                                                  const std::string& word, ShellSize size) {
  constexpr size_t kIdCharacters = 12;
  TRY_ASSIGN(const Instance instance, check(actor, word));
  Terminal::About about;
  about.id = random_secret(deps_.entropy, kIdCharacters).reveal();
  about.account = actor.account;
  about.instance = instance.id;
  about.run = instance.run_id;
  about.actor = actor.name;
  about.opened_at = deps_.clock.now();
  const auto terminal =
      std::make_shared<Terminal>(about, session, *deps_.shells, deps_.clock, size);
  {
    const std::lock_guard lock(mutex_);
    TRY(check_room(actor.account, instance.id));
    terminals_.emplace(about.id, terminal);
  }
  const Status written = deps_.store.write([&](Tx& tx) {
    return record(tx, instance, about.opened_at, "terminal.opened", actor.name, "renter",
                  "terminal=" + about.id);
  });
  if (!written) {
    const std::lock_guard lock(mutex_);
    terminals_.erase(about.id);
    return fail(written.error());
  }
  deps_.changed();
  return terminal;
}

Result<std::shared_ptr<Terminal>> Terminals::find(const Actor& actor, const TokenId& session,
                                                  const std::string& word, const std::string& id) {
  TRY_ASSIGN(const Instance instance, check(actor, word));
  std::shared_ptr<Terminal> terminal;
  {
    const std::lock_guard lock(mutex_);
    const auto found = terminals_.find(id);
    if (found != terminals_.end()) terminal = found->second;
  }
  if (!terminal || terminal->about().account != actor.account ||
      terminal->about().instance != instance.id) {
    return no_terminal();
  }
  terminal->belong_to(session);
  return terminal;
}

Result<std::vector<std::shared_ptr<Terminal>>> Terminals::list(const Actor& actor,
                                                               const std::string& word) {
  TRY_ASSIGN(const InstanceView view, instances_.get(actor, word));
  std::vector<std::shared_ptr<Terminal>> found;
  for (const auto& terminal : all()) {
    if (terminal->about().instance == view.instance.id && !terminal->state().end) {
      found.push_back(terminal);
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a->about().opened_at, a->about().id) <
           std::pair(b->about().opened_at, b->about().id);
  });
  return found;
}

std::vector<std::shared_ptr<Terminal>> Terminals::all() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Terminal>> terminals;
  for (const auto& [id, terminal] : terminals_) terminals.push_back(terminal);
  return terminals;
}

Status Terminals::sweep() {
  const Timestamp now = deps_.clock.now();
  for (const auto& terminal : all()) {
    TRY(end_what_must(terminal, terminal->state()));
    const Terminal::State state = terminal->state();
    if (!state.end) continue;
    const std::string& id = terminal->about().id;
    bool is_written = false;
    {
      const std::lock_guard lock(mutex_);
      is_written = written_down_[id];
    }
    if (!is_written) TRY(write_down(*terminal, *state.end));
    const std::lock_guard lock(mutex_);
    written_down_[id] = true;
    if (!state.end_was_read && now < *state.ended_at + seconds(limits::kTerminalEndedSeconds)) {
      continue;
    }
    terminals_.erase(id);
    written_down_.erase(id);
  }
  return {};
}

Status Terminals::end_what_must(const std::shared_ptr<Terminal>& terminal,
                                const Terminal::State& state) {
  if (state.end) return {};
  const auto known = accounts_.authenticate(state.session);
  if (!known && known.error().code == ErrorCode::unauthenticated) {
    terminal->finish({TerminalFate::session_ended, {}, known.error().what});
    return {};
  }
  if (!known) return fail(known.error());
  std::optional<Instance> instance;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(instance, tx.instances().find(terminal->about().instance));
    return {};
  }));
  if (!instance || instance->observed != Observed::running ||
      instance->run_id != terminal->about().run) {
    terminal->finish(
        {TerminalFate::instance_stopped, {}, Text{"the instance stopped", "实例已关机"}});
    return {};
  }
  const Duration patience = seconds(limits::kTerminalDetachedSeconds);
  if (state.detached_at && deps_.clock.now() >= *state.detached_at + patience) {
    terminal->finish({TerminalFate::abandoned,
                      {},
                      Text{"nobody looked at it for ten minutes", "已有十分钟无人查看"}});
  }
  return {};
}

Status Terminals::write_down(const Terminal& terminal, const TerminalEnd& end) {
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto instance, tx.instances().find(terminal.about().instance));
    if (!instance) return {};
    return record(tx, *instance, deps_.clock.now(), "terminal.closed", terminal.about().actor,
                  std::string(enum_text(end.fate)), "terminal=" + terminal.about().id);
  }));
  deps_.changed();
  return {};
}

void Terminals::end_all() {
  for (const auto& terminal : all()) {
    terminal->finish({TerminalFate::closed, {}, Text{"the server stops", "服务器正在停止"}});
  }
}

}  // namespace cardhour
