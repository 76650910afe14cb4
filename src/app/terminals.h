// Terminals: shells inside instances that outlive the connection of whoever looks at them. A
// lost connection detaches; the next one goes on where the last one was, from the last
// kTerminalOutputBytes of output. Held in memory: a restart of the server ends them.
// Invariants: an attached reader misses nothing: the shell is held back while that much is
// unsent. Input is taken whole or not at all. A terminal ends with its session, its instance's
// run, ten minutes without a reader, or its shell.
// Thread-safe. No lock is held while a port or a wake is called.
#pragma once

#include <boost/describe/enum.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/accounts.h"
#include "app/deps.h"
#include "app/instances.h"
#include "ports/shell.h"

namespace cardhour {

// By its own shell, by its reader, without a reader for too long, or with what it belongs to.
enum class TerminalFate { exited, closed, abandoned, session_ended, instance_stopped };
BOOST_DESCRIBE_ENUM(TerminalFate, exited, closed, abandoned, session_ended, instance_stopped)

struct TerminalEnd {
  TerminalFate fate = TerminalFate::exited;
  std::optional<int> exit_code;
  Text reason;
};

class Terminal : public std::enable_shared_from_this<Terminal> {
 public:
  struct About {
    std::string id;
    AccountId account;
    InstanceId instance;
    std::optional<RunId> run;
    std::string actor;
    Timestamp opened_at;
  };
  Terminal(About about, TokenId session, Shells& shells, Clock& clock, ShellSize size);

  const About& about() const { return about_; }

  // A reader: `wake` is called when there is something for it, on any thread, and must return
  // at once. Takes the place of an earlier reader. `offset` counts the output from the
  // beginning: of the first byte that follows; more than `from` when that is gone already.
  struct Attached {
    uint64_t reader = 0;
    int64_t offset = 0;
  };
  // invalid_argument: `from` is more than there ever was.
  Result<Attached> attach(std::optional<int64_t> from, std::function<void()> wake);
  void detach(uint64_t reader);

  // What follows, at most `bytes_max`; empty when there is nothing yet. After the last byte
  // comes the end. `replaced`: another reader took the place.
  struct Taken {
    std::string bytes;
    std::optional<TerminalEnd> end;
    bool replaced = false;
  };
  Taken take(uint64_t reader, size_t bytes_max);
  // False: too much is waiting for the shell; nothing was taken, and a wake follows.
  bool write(uint64_t reader, std::string_view bytes);
  void resize(uint64_t reader, ShellSize size);
  // Ends the shell. Nothing to do when it ended already.
  void finish(TerminalEnd end);

  // For the list and the sweep.
  struct State {
    TokenId session;
    bool attached = false;
    int64_t output_bytes = 0;
    std::optional<Timestamp> detached_at;
    std::optional<Timestamp> ended_at;
    std::optional<TerminalEnd> end;
    bool end_was_read = false;
  };
  State state();
  void belong_to(const TokenId& session);

 private:
  void pump();   // asks the shell for more, if there is room
  void flush();  // gives the shell what was typed
  void was_read(ShellOutput output);
  bool has_room() const;
  void trim();

  const About about_;
  Shells& shells_;
  Clock& clock_;
  std::mutex mutex_;
  TokenId session_;
  bool opened_ = false;           // the shell was asked for, at the first attach
  std::shared_ptr<Shell> shell_;  // from then to the end
  ShellSize size_;
  std::string output_;    // the last of it
  int64_t begin_ = 0;     // offset of its first byte
  int64_t position_ = 0;  // the reader's
  std::string input_;     // typed, not yet given to the shell
  bool reading_ = false;
  bool writing_ = false;
  bool input_was_refused_ = false;
  uint64_t reader_ = 0;  // the present one; 0: nobody looks
  uint64_t readers_ = 0;
  std::function<void()> wake_;
  std::optional<Timestamp> detached_at_;
  std::optional<TerminalEnd> end_;
  std::optional<Timestamp> ended_at_;
  bool end_was_read_ = false;
};

class Terminals {
 public:
  Terminals(const Deps& deps, Accounts& accounts, Instances& instances)
      : deps_(deps), accounts_(accounts), instances_(instances) {}

  // One's own running instance; not_found, or conflict when it does not run.
  Result<Instance> check(const Actor& actor, const std::string& instance);
  // A new one, whose shell begins when it is attached. quota_exceeded: too many of the
  // instance's or the account's.
  Result<std::shared_ptr<Terminal>> open(const Actor& actor, const TokenId& session,
                                         const std::string& instance, ShellSize size);
  // An open one of one's own; it belongs to the session that asks from now on.
  Result<std::shared_ptr<Terminal>> find(const Actor& actor, const TokenId& session,
                                         const std::string& instance, const std::string& id);
  // Open ones, oldest first.
  Result<std::vector<std::shared_ptr<Terminal>>> list(const Actor& actor,
                                                      const std::string& instance);
  // Ends what must end, writes down what ended, forgets what nobody will ask for. Once a second.
  Status sweep();
  // At the end of the server.
  void end_all();

 private:
  std::vector<std::shared_ptr<Terminal>> all();
  Status check_room(const AccountId& account, const InstanceId& instance);
  Status end_what_must(const std::shared_ptr<Terminal>& terminal, const Terminal::State& state);
  Status write_down(const Terminal& terminal, const TerminalEnd& end);

  Deps deps_;
  Accounts& accounts_;
  Instances& instances_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Terminal>> terminals_;  // by id, with those just ended
  std::map<std::string, bool> written_down_;                    // ended ones, by id
};

}  // namespace cardhour
