#include "adapters/incus/sim_cards.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace cardhour {
namespace fs = std::filesystem;
namespace {

// Read by any user of the instance; the file system there shows the owner as root.
constexpr fs::perms kDirPerms = fs::perms::owner_all | fs::perms::group_read |
                                fs::perms::group_exec | fs::perms::others_read |
                                fs::perms::others_exec;
constexpr fs::perms kFilePerms =
    fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read;

tl::unexpected<Error> cannot(const std::string& path, const std::string& why) {
  return fail(ErrorCode::engine_failed, text("cannot write {}: {}", "无法写入 {}：{}", path, why));
}

// A value of "key=value" lines: what would end it or begin another becomes a space.
std::string plain(std::string_view value) {
  std::string out(value);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '=' || c == '#' || c == ';') c = ' ';
  }
  return out;
}

Status replace(const fs::path& temporary, const fs::path& path) {
  std::error_code wrong;
  fs::permissions(temporary, kFilePerms, wrong);
  if (!wrong) fs::rename(temporary, path, wrong);
  if (wrong) return cannot(path.string(), wrong.message());
  return {};
}

}  // namespace

std::string sim_cards_dir(const std::string& state_dir, const InstanceId& id) {
  return (fs::path(state_dir) / "sim-cards" / id.text).string();
}

std::string sim_cards_text(const std::vector<EngineCard>& cards) {
  std::string lines;
  for (const EngineCard& card : cards) {
    if (!card.simulated) continue;
    lines += fmt::format("uuid={} name={} pci={} memory={} used=0\n", plain(card.uuid.text),
                         plain(card.driver_name), plain(card.pci_address), card.vram_bytes);
  }
  return lines;
}

Status put_sim_cards(const std::string& dir, const std::string& library,
                     const std::vector<EngineCard>& cards) {
  std::error_code wrong;
  const fs::path where(dir);
  fs::create_directories(where, wrong);
  if (!wrong) fs::permissions(where, kDirPerms, wrong);
  if (wrong) return cannot(dir, wrong.message());

  const fs::path library_part = where / ".library";
  fs::copy_file(library, library_part, fs::copy_options::overwrite_existing, wrong);
  if (wrong) return cannot(library_part.string(), library + ": " + wrong.message());
  TRY(replace(library_part, where / "libnvidia-ml.so.1"));

  const fs::path cards_part = where / ".cards";
  std::ofstream out(cards_part, std::ios::trunc | std::ios::binary);
  out << sim_cards_text(cards);
  out.close();
  if (!out) return cannot(cards_part.string(), "write error");
  return replace(cards_part, where / "cards");
}

Status remove_sim_cards(const std::string& dir) {
  std::error_code wrong;
  fs::remove_all(dir, wrong);
  if (wrong) return cannot(dir, wrong.message());
  return {};
}

}  // namespace cardhour
