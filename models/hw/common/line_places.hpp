/// Where the lines of a chunk live, worked out once and used by every step that looks them up.
#pragma once

#include <array>
#include <cstdint>

#include "models/hw/common/address_map.hpp"
#include "models/hw/common/context.hpp"

namespace strata {

/// Places of the chunks that are about to be looked up, by handle; those that miss keep theirs.
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
    const Chunk& c = context_.chunks[chunk];
    if (c.places != kNoHandle) {
      return context_.line_places[c.places];
    }
    LinePlaces& p = recent_[chunk % recent_.size()];
    if (p.chunk == chunk && p.generation == c.generation) {
      return p;
    }
    p.chunk = chunk;
    p.generation = c.generation;
    p.homes = 0;
    p.near = {};
    p.home = {};
    p.partial = false;
    AddressMap::Common near;
    for (std::uint32_t i = 0; i < c.count; ++i) {
      const std::uint32_t line = context_.line(c, i);
      const LineHome home = map_.home(line, near);
      p.slice[i] = static_cast<std::uint8_t>(home.slice);
      const AddressMap::Place place = map_.place(home, near);
      p.set[i] = place.set;
      p.tag[i] = place.tag;
      p.homes |= std::uint32_t{home.partition} << i;
    }
    return p;
  }

 private:
  Context& context_;
  const AddressMap& map_;
  std::array<LinePlaces, 16> recent_{};
};

}  // namespace strata
