/// Where the lines of a chunk live, worked out once and used by every step that looks them up.
#pragma once

#include <array>
#include <cstdint>

#include "models/hw/common/address_map.hpp"
#include "models/hw/common/context.hpp"

namespace strata {

/// Places of the chunks that are about to be looked up, the last few that were asked for; those that miss keep theirs.
class LinePlaceCache {
 public:
  LinePlaceCache(Context& context, const AddressMap& map) : context_(context), map_(map) {}

  /// Keeps a chunk's places until it is freed.
  void keep(std::uint32_t chunk) {
    Chunk& c = context_.chunks[chunk];
    if (c.places == kNoHandle) {
      const std::uint32_t handle = context_.line_places.acquire();
      context_.line_places[handle] = of(chunk);
      c.places = handle;
    }
  }
  /// Valid until the next call.
  const LinePlaces& of(std::uint32_t chunk) {
    Chunk& c = context_.chunks[chunk];
    if (c.places != kNoHandle) {
      return context_.line_places[c.places];
    }
    if (const LinePlaces& known = recent_[c.recent % kRecent];
        known.chunk == chunk && known.generation == c.generation) {
      return known;
    }
    c.recent = next_++;
    LinePlaces& p = recent_[c.recent % kRecent];
    p.chunk = chunk;
    p.generation = c.generation;
    work_out(c, p);
    return p;
  }

 private:
  void work_out(const Chunk& c, LinePlaces& p) const {
    // Gathered beside the map, so that the compiler knows that a store leaves it as it is.
    std::array<std::uint32_t, kChunkLines> tag;
    std::array<std::uint32_t, kChunkLines> set;
    std::array<std::uint8_t, kChunkLines> slice;
    std::uint32_t homes = 0;
    AddressMap::Common near;
    for (std::uint32_t i = 0; i < c.count; ++i) {
      const LineHome home = map_.home(context_.line(c, i), near);
      const AddressMap::Place place = map_.place(home, near);
      slice[i] = static_cast<std::uint8_t>(home.slice);
      set[i] = place.set;
      tag[i] = place.tag;
      homes |= std::uint32_t{home.partition} << i;
    }
    p.tag = tag;
    p.set = set;
    p.slice = slice;
    p.homes = homes;
    p.near = {};
    p.home = {};
    p.partial = false;
  }

  Context& context_;
  const AddressMap& map_;
  static constexpr std::size_t kRecent = 16;  ///< a power of two
  std::array<LinePlaces, kRecent> recent_{};
  std::uint8_t next_ = 0;
};

}  // namespace strata
