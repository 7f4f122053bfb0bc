#include "tests/cuda/emulator/memory.h"

#include <algorithm>

#include <fmt/format.h>

namespace slipstream::emulator {
namespace {

constexpr int32_t kWarpThreads = 32;

bool holds(const Region& region, const std::byte* address, size_t bytes) {
  return address >= region.begin && address + bytes <= region.begin + region.bytes;
}

// Whether `before` may happen at the same time as `now`. Both are of the same launch.
bool at_once(const Toucher& before, const Toucher& now) {
  if (before.block != now.block) return true;
  if (before.thread == now.thread || before.barriers != now.barriers) return false;
  const bool same_warp = before.thread / kWarpThreads == now.thread / kWarpThreads;
  return !same_warp || before.warp_barriers == now.warp_barriers;
}

bool races(const Toucher& before, const Toucher& now, const Region& region, uint64_t first_block) {
  if (before.thread < 0 || before.block < first_block || (before.atomic && now.atomic)) return false;
  if (region.shared && before.block != now.block) return false;
  return at_once(before, now);
}

const char* verb(Touch how) { return how == Touch::read ? "reads" : how == Touch::write ? "writes" : "adds to"; }

std::string race(const Region& region, size_t offset, const Toucher& before, const char* did, const Toucher& now, Touch how) {
  return fmt::format("race: thread {} {} byte {} of {}, which thread {}{} {} with no barrier between them", now.thread,
                     verb(how), offset, region.name, before.thread, before.block != now.block ? " of another block" : "", did);
}

// A read takes the place of one that is over: whoever races with that one races with this one, too.
void note_read(Granule& granule, const Toucher& now, const Region& region, uint64_t first_block) {
  granule.reads[races(granule.reads[0], now, region, first_block) ? 1 : 0] = now;
}

}  // namespace

Memory& memory() {
  static Memory all;
  return all;
}

Region& Memory::add(Region region) {
  region.granules.resize((region.bytes + region.granule_bytes - 1) / region.granule_bytes);
  return *regions_.emplace_back(new Region(std::move(region)));
}

void Memory::remove(const std::byte* begin) {
  const auto found = std::ranges::find(regions_, begin, &Region::begin);
  if (found == regions_.end()) return;
  delete *found;
  regions_.erase(found);
  last_ = nullptr;
}

std::string Memory::outside(const std::byte* address, size_t bytes) const {
  const Region* nearest = nullptr;
  for (const Region* each : regions_) {
    if (each->begin <= address && (nearest == nullptr || each->begin > nearest->begin)) nearest = each;
  }
  if (nearest == nullptr) return fmt::format("out of bounds: {} bytes in no array", bytes);
  return fmt::format("out of bounds: {} bytes at byte {} of {}, which has {}", bytes, address - nearest->begin, nearest->name,
                     nearest->bytes);
}

std::string Memory::touch(const Toucher& who, Touch how, const void* address, size_t bytes, uint64_t first_block) {
  const auto* at = static_cast<const std::byte*>(address);
  if (last_ == nullptr || !holds(*last_, at, bytes)) {
    const auto found = std::ranges::find_if(regions_, [&](const Region* each) { return holds(*each, at, bytes); });
    if (found == regions_.end()) return outside(at, bytes);
    last_ = *found;
  }
  Region& region = *last_;
  if (region.input && how != Touch::read) return fmt::format("writes to {}, which is input", region.name);
  const auto offset = static_cast<size_t>(at - region.begin);
  Toucher now = who;
  now.atomic = how == Touch::atomic;
  for (size_t i = offset / region.granule_bytes; i <= (offset + bytes - 1) / region.granule_bytes; ++i) {
    Granule& granule = region.granules[i];
    const bool written = region.input || (granule.write.thread >= 0 && (!region.shared || granule.write.block == now.block));
    if (how != Touch::write && !written) return fmt::format("reads byte {} of {}, which nobody wrote", offset, region.name);
    if (races(granule.write, now, region, first_block)) return race(region, offset, granule.write, "writes", now, how);
    if (how == Touch::read) {
      note_read(granule, now, region, first_block);
      continue;
    }
    for (const Toucher& reader : granule.reads) {
      if (races(reader, now, region, first_block)) return race(region, offset, reader, "reads", now, how);
    }
    granule.write = now;
  }
  return {};
}

}  // namespace slipstream::emulator
