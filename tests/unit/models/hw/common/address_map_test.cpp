#include "models/hw/common/address_map.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "sim/config/gpu_description.hpp"

using namespace strata;

namespace {

struct Spread {
  double slices;      ///< fullest slice over the mean
  double channels;    ///< fullest pseudo-channel over the mean
  double partitions;  ///< fuller partition over the mean
};

/// How `lines` lines, `pitch_lines` apart, fall on slices, channels and partitions.
Spread spread(const GpuConfig& gpu, std::uint32_t first, std::uint32_t lines, std::uint32_t pitch_lines) {
  const AddressMap map(gpu);
  std::vector<double> slice(map.partitions() * map.slices_per_partition());
  std::vector<double> channel(static_cast<std::size_t>(gpu.num_pseudo_channels()));
  std::vector<double> partition(map.partitions());
  for (std::uint32_t i = 0; i < lines; ++i) {
    const LineHome h = map.home(first + i * pitch_lines);
    slice[h.partition * map.slices_per_partition() + h.slice] += 1;
    channel[h.pseudo_channel] += 1;
    partition[h.partition] += 1;
  }
  const auto over_mean = [lines](const std::vector<double>& v) {
    return *std::max_element(v.begin(), v.end()) * static_cast<double>(v.size()) / lines;
  };
  return {over_mean(slice), over_mean(channel), over_mean(partition)};
}

}  // namespace

TEST_CASE("FixedDivisor: quotient and remainder are those of a division", "[address_map][property]") {
  CHECK(rc::check([] {
    const auto d = *rc::gen::suchThat(rc::gen::arbitrary<std::uint32_t>(), [](std::uint32_t v) { return v > 0; });
    const FixedDivisor divisor(d);
    for (const std::uint32_t x :
         {*rc::gen::arbitrary<std::uint32_t>(), d - 1, d, d + 1, 0U, 0xffffffffU, 0xfffffffeU}) {
      RC_ASSERT(divisor.quotient(x) == x / d);
      RC_ASSERT(divisor.remainder(x) == x % d);
    }
  }));
  for (std::uint32_t d = 1; d <= 256; ++d) {
    for (const std::uint32_t x : {0U, 1U, d - 1, d, 2 * d - 1, 1U << 31, 0xffffffffU}) {
      REQUIRE(FixedDivisor(d).quotient(x) == x / d);
    }
  }
}

TEST_CASE("AddressMap: every line of every GPU has a home within range", "[address_map][property]") {
  for (const std::string& name : list_gpus()) {
    const GpuConfig gpu = load_gpu(name).config;
    const AddressMap map(gpu);
    INFO(name);
    const auto channels = static_cast<std::uint32_t>(gpu.num_pseudo_channels());
    CHECK(map.partitions() * map.slices_per_partition() == static_cast<std::uint32_t>(gpu.l2.slices));
    CHECK(rc::check([&] {
      const auto line = *rc::gen::arbitrary<std::uint32_t>();
      const LineHome h = map.home(line);
      RC_ASSERT(h.partition < map.partitions());
      RC_ASSERT(h.slice < map.slices_per_partition());
      RC_ASSERT(h.pseudo_channel < channels);
      RC_ASSERT(h.pseudo_channel / (channels / map.partitions()) == h.partition);
      RC_ASSERT(h.bank < gpu.hbm.bank_groups * gpu.hbm.banks_per_group);
      const AddressMap::Place place = map.place(h);
      RC_ASSERT(place.set / map.sets_per_slice() == h.slice);
      RC_ASSERT(map.line_of(place) == line);
    }));
  }
}

// Not exactly its share: groups of 64 lines are dealt over 80 channels at an offset that favours spread of columns.
TEST_CASE("AddressMap: what neighbours have in common changes no answer", "[address_map][property]") {
  const AddressMap map(load_gpu("h100-sxm5-80gb").config);
  CHECK(rc::check([&map] {
    AddressMap::Common near;
    auto line = *rc::gen::arbitrary<std::uint32_t>();
    const auto stride = *rc::gen::inRange<std::uint32_t>(0, 1U << 20);
    for (int i = 0; i < 16; ++i, line += stride) {
      const LineHome alone = map.home(line);
      const LineHome home = map.home(line, near);
      RC_ASSERT(home.partition == alone.partition && home.slice == alone.slice && home.order == alone.order);
      RC_ASSERT(home.pseudo_channel == alone.pseudo_channel && home.bank == alone.bank && home.row == alone.row);
      const AddressMap::Place place = map.place(home, near);
      RC_ASSERT(place.set == map.place(alone).set && place.tag == map.place(alone).tag);
    }
  }));
}

TEST_CASE("AddressMap: a row of every channel holds its share of the lines, give or take two", "[address_map]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  const AddressMap map(gpu);
  const auto lines_per_row = static_cast<std::uint32_t>(gpu.hbm.row_bytes / 128);
  const std::uint32_t super = lines_per_row * static_cast<std::uint32_t>(gpu.num_pseudo_channels());
  std::vector<std::uint32_t> count(static_cast<std::size_t>(gpu.num_pseudo_channels()));
  for (std::uint32_t line = 7 * super; line < 8 * super; ++line) {
    const LineHome h = map.home(line);
    CHECK(h.row / AddressMap::kPiecesOfRow == 7);
    ++count[h.pseudo_channel];
  }
  for (const std::uint32_t n : count) {
    CHECK(n + 2 >= lines_per_row);
    CHECK(n <= lines_per_row + 2);
  }
}

TEST_CASE("AddressMap: a run of lines spreads evenly over slices and channels", "[address_map]") {
  for (const std::string& name : list_gpus()) {
    const GpuConfig gpu = load_gpu(name).config;
    for (const std::uint32_t first : {0U, 12345U, 1U << 25}) {
      const Spread s = spread(gpu, first, 65536, 1);
      INFO(name << " from line " << first);
      CHECK(s.slices < 1.05);
      CHECK(s.channels < 1.05);
      CHECK(s.partitions < 1.02);
    }
  }
}

TEST_CASE("AddressMap: a footprint of nearly the whole L2 fills the tag sets evenly", "[address_map]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  const AddressMap map(gpu);
  std::vector<std::uint32_t> used(2 * map.slices_per_partition() * map.sets_per_slice());
  const auto lines = static_cast<std::uint32_t>(gpu.l2.data_share * static_cast<double>(gpu.l2.size_bytes) / 128 * 0.9);
  for (std::uint32_t line = 777; line < 777 + lines; ++line) {
    const LineHome h = map.home(line);
    ++used[h.partition * map.slices_per_partition() * map.sets_per_slice() + map.place(h).set];
  }
  // Random placement would overfill a third of the sets.
  const auto over = std::count_if(used.begin(), used.end(), [](std::uint32_t n) { return n > 16; });
  CHECK(static_cast<double>(over) < 0.05 * static_cast<double>(used.size()));
}

TEST_CASE("AddressMap: the sets are those of the share that keeps data", "[address_map]") {
  // 50 MiB are 409,600 lines: 5120 to each of 80 slices, 320 sets of 16 ways; nine tenths are 288.
  CHECK(AddressMap(load_gpu("h100-sxm5-80gb", {"l2.data_share=1"}).config).sets_per_slice() == 320);
  CHECK(AddressMap(load_gpu("h100-sxm5-80gb", {"l2.data_share=0.9"}).config).sets_per_slice() == 288);
}

TEST_CASE("AddressMap: columns of a power-of-two pitch spread over slices and channels", "[address_map]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  // 16,384 lines are about 102 per pseudo-channel; random placement would fill the fullest about 1.3 times.
  for (std::uint32_t pitch = 2; pitch <= 4096; pitch *= 2) {
    const Spread s = spread(gpu, 1U << 25, 16384, pitch);
    INFO("pitch of " << pitch * 128 << " bytes");
    CHECK(s.slices < 1.45);
    CHECK(s.channels < 1.5);
    CHECK(s.partitions < 1.1);
  }
}

TEST_CASE("AddressMap: 4 KiB have one home, and the pairs of lines of 1 KiB take two slices by turns",
          "[address_map]") {
  // Measured on an H200: docs/model/l2.md.
  const AddressMap map(load_gpu("h200-sxm-141gb").config);
  for (std::uint32_t kib = 0; kib < 4096; ++kib) {
    const LineHome a = map.home(kib * 8);
    const LineHome b = map.home(kib * 8 + 2);
    CHECK(a.slice != b.slice);
    for (std::uint32_t line = 0; line < 8; ++line) {
      const LineHome h = map.home(kib * 8 + line);
      CHECK(h.slice == (line / 2 % 2 == 0 ? a : b).slice);
      CHECK(h.partition == map.home(kib / 4 * 32).partition);
    }
    CHECK(map.home(kib / 8 * 64).partition != map.home(kib / 8 * 64 + 32).partition);
  }
}
