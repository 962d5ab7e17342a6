#include "sim/config/gpu_fields.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <set>

using namespace strata;

namespace {

/// Converts to any member, so that braces can probe how many members an aggregate has.
struct Anything {
  template <typename T>
  operator T() const;  // NOLINT: never defined
};

template <typename T, typename... Probes>
constexpr std::size_t member_count() {
  if constexpr (requires { T{Probes{}..., Anything{}}; }) {
    return member_count<T, Probes..., Anything>();
  } else {
    return sizeof...(Probes);
  }
}

std::map<std::string, std::size_t> fields_by_section() {
  std::map<std::string, std::size_t> counts;
  for (const Field& field : gpu_fields()) {
    ++counts[std::string(field.key.substr(0, field.key.find('.')))];
  }
  return counts;
}

}  // namespace

TEST_CASE("GpuConfig: every member has a line in the field table", "[config]") {
  const std::map<std::string, std::size_t> members = {{"chip", member_count<ChipConfig>()},
                                                      {"clocks", member_count<ClockConfig>()},
                                                      {"topology", member_count<TopologyConfig>()},
                                                      {"sm", member_count<SmConfig>()},
                                                      {"icache", member_count<InstructionCacheConfig>()},
                                                      {"registers", member_count<RegisterFileConfig>()},
                                                      {"smem", member_count<SharedMemoryConfig>()},
                                                      {"l1", member_count<L1Config>()},
                                                      {"tma", member_count<TmaConfig>()},
                                                      {"tensor", member_count<TensorConfig>()},
                                                      {"xbar", member_count<XbarConfig>()},
                                                      {"lrc", member_count<LrcConfig>()},
                                                      {"l2", member_count<L2Config>()},
                                                      {"fabric", member_count<FabricConfig>()},
                                                      {"hbm", member_count<HbmConfig>()},
                                                      {"tlb", member_count<TlbConfig>()},
                                                      {"launch", member_count<LaunchConfig>()}};
  CHECK(members.size() == member_count<GpuConfig>());
  CHECK(member_count<ClockConfig>() == 5);  // the probe itself works
  const auto fields = fields_by_section();
  for (const auto& [section, count] : members) {
    INFO("section " << section << ": add or remove a line in gpu_fields.cpp");
    CHECK((fields.contains(section) ? fields.at(section) : 0) == count);
  }
  CHECK(fields.size() == members.size());
}

TEST_CASE("Field table: keys and members do not repeat, ranges make sense and fit the member", "[config]") {
  GpuConfig config{};
  std::set<std::string_view> keys;
  std::set<const void*> members;
  for (const Field& field : gpu_fields()) {
    INFO(field.key);
    CHECK(keys.insert(field.key).second);
    const void* member = std::visit([](auto* p) -> const void* { return p; }, field.ref(config));
    CHECK(members.insert(member).second);
    CHECK_FALSE(field.unit.empty());
    CHECK_FALSE(field.meaning.empty());
    const bool text = std::holds_alternative<std::string*>(field.ref(config));
    CHECK(text == (field.unit == "words"));
    if (!text) {
      CHECK(field.min < field.max + (field.min == field.max ? 1 : 0));
    }
    if (std::holds_alternative<int*>(field.ref(config))) {
      CHECK(field.max <= std::numeric_limits<int>::max());
    }
  }
}

TEST_CASE("Field: sizes take binary and decimal suffixes", "[config]") {
  GpuConfig config{};
  const Field& size = *find_field("l2.size_bytes");
  for (const auto& [text, bytes] : std::map<std::string, std::int64_t>{{"100MiB", 104857600},
                                                                       {"100MB", 100000000},
                                                                       {"1.5GiB", 1610612736},
                                                                       {"65536", 65536},
                                                                       {" 128 KiB ", 131072}}) {
    INFO(text);
    CHECK_FALSE(parse_field(size, text, config));
    CHECK(config.l2.size_bytes == bytes);
  }
  for (const char* bad :
       {"", "MiB", "1.5", "1e30GiB", "12XB", "-1", "0x10000", "1.00001KiB", "nanMiB", "99999999999999999999"}) {
    INFO(bad);
    CHECK(parse_field(size, bad, config));
  }
  CHECK(parse_field(*find_field("l2.ways"), "16KiB", config));  // not a number of bytes
}

TEST_CASE("Field: a refused value leaves the member alone", "[config]") {
  GpuConfig config{};
  config.l2.ways = 16;
  config.topology.gpc_sms = {4};
  CHECK(parse_field(*find_field("l2.ways"), "0", config));
  CHECK(parse_field(*find_field("l2.ways"), "65", config));
  CHECK(parse_field(*find_field("topology.gpc_sms"), "[1, 2, x]", config));
  CHECK(config.l2.ways == 16);
  CHECK(config.topology.gpc_sms == std::vector<int>{4});
}

TEST_CASE("Field: lists, decimals and words read back what they print", "[config]") {
  GpuConfig a{};
  GpuConfig b{};
  a.topology.gpc_sms = {18, 16, 8};
  a.l2.dirty_limit = 0.1 + 0.2;
  a.l2.near_copy = "far_hit";
  for (const char* key : {"topology.gpc_sms", "l2.dirty_limit", "l2.near_copy"}) {
    const Field& field = *find_field(key);
    CHECK_FALSE(parse_field(field, field_text(field, a), b));
  }
  CHECK(b.topology.gpc_sms == a.topology.gpc_sms);
  CHECK(b.l2.dirty_limit == a.l2.dirty_limit);
  CHECK(b.l2.near_copy == a.l2.near_copy);
}

TEST_CASE("Field: NaN, infinity, empty lists and unknown words are refused", "[config][error]") {
  GpuConfig config{};
  for (const auto& [key, text] : std::vector<std::pair<const char*, const char*>>{{"l2.dirty_limit", "nan"},
                                                                                  {"l2.dirty_limit", ".nan"},
                                                                                  {"l2.dirty_limit", "inf"},
                                                                                  {"l2.dirty_limit", "1.0001"},
                                                                                  {"l2.dirty_limit", "0.5x"},
                                                                                  {"topology.gpc_sms", "[]"},
                                                                                  {"topology.gpc_sms", "16"},
                                                                                  {"topology.gpc_sms", "[16,]"},
                                                                                  {"topology.gpc_sms", "[16,,16]"},
                                                                                  {"topology.gpc_sms", "[0]"},
                                                                                  {"l2.near_copy", "sometimes"},
                                                                                  {"l2.near_copy", "none|first_fill"},
                                                                                  {"l2.near_copy", ""}}) {
    INFO(key << " = " << text);
    CHECK(parse_field(*find_field(key), text, config));
  }
}

TEST_CASE("Field: a key may lack its unit suffix", "[config]") {
  CHECK(find_field("l2.size") == find_field("l2.size_bytes"));
  CHECK(find_field("clocks.l2") == find_field("clocks.l2_mhz"));
  CHECK(find_field("hbm.trfc") == find_field("hbm.trfc_ns"));
  CHECK(find_field("l2") == nullptr);
  CHECK(find_field("") == nullptr);
}

TEST_CASE("field_words: a value with its unit, bytes by powers of 1024", "[config]") {
  CHECK(binary_bytes(0) == "0 B");
  CHECK(binary_bytes(1000) == "1000 B");
  CHECK(binary_bytes(48 * 1024) == "48 KiB");
  CHECK(binary_bytes(50LL << 20) == "50 MiB");
  CHECK(binary_bytes(80LL << 30) == "80 GiB");
  GpuConfig config{};
  config.l2.ways = 1;
  CHECK(field_words(*find_field("l2.ways"), config) == "1 way");
  config.l2.ways = 20;
  CHECK(field_words(*find_field("l2.ways"), config) == "20 ways");
  config.clocks.l2_mhz = 1700;
  CHECK(field_words(*find_field("clocks.l2_mhz"), config) == "1700 MHz");
  config.topology.gpc_sms = {16, 18};
  CHECK(field_words(*find_field("topology.gpc_sms"), config) == "[16, 18] SMs");
  config.tma.present = 1;
  CHECK(field_words(*find_field("tma.present"), config) == "1");
}
