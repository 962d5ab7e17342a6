#include "sim/app/profile/kineto_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/app/launch_limits.hpp"
#include "sim/base/error.hpp"
#include "validation/compare/json_input.hpp"

namespace strata::app {

namespace {

using nlohmann::json;

constexpr const char* kGrid = "grid";
constexpr const char* kBlock = "block";
constexpr const char* kRegisters = "registers per thread";
constexpr const char* kSmem = "shared memory";

[[noreturn]] void fail(const std::string& path, const std::string& where, const char* key, const std::string& message) {
  throw InputError(Diagnostic{path, 0, 0, fmt::format("{}.{}", where, key), message});
}

const json& member(const json& object, const char* key) {
  static const json kNull;
  if (!object.is_object()) {
    return kNull;
  }
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string text(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string{};
}

/// The name of an event, which ends in outputs.
std::string checked_name(const json& event, const std::string& path, const std::string& where) {
  std::string name = text(event, "name");
  if (name.find('\0') != std::string::npos) {
    fail(path, where, "name", "holds a zero byte; expected text");
  }
  if (name.size() > kMaxCellBytes) {
    fail(path, where, "name", fmt::format("has {} bytes; expected at most {}", name.size(), kMaxCellBytes));
  }
  return name;
}

/// 0 where the member is missing or no whole number.
std::int64_t integer(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

/// "External id" is "external id" in older traces.
std::int64_t operator_id(const json& args) {
  const std::int64_t id = integer(args, "External id");
  return id != 0 ? id : integer(args, "external id");
}

std::optional<double> time_us(const json& event, const char* key, const std::string& path, const std::string& where) {
  const json& value = member(event, key);
  if (value.is_null()) {
    return std::nullopt;
  }
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
    fail(path, where, key, fmt::format("{} is not a time of zero or more microseconds", shown(value)));
  }
  return value.get<double>();
}

std::optional<double> duration_us(const json& event, const std::string& path, const std::string& where) {
  constexpr const char* kDuration = "dur";
  const auto us = time_us(event, kDuration, path, where);
  if (us == 0.0) {
    return std::nullopt;  // below the clock's step: not measured
  }
  const QuantityInfo& info = info_of(Quantity::kDurationUs);
  if (us && (*us < info.lowest || *us > info.highest)) {
    const std::string found = shown(member(event, kDuration));
    fail(path, where, kDuration,
         *us > info.highest ? fmt::format("{}: expected at most {:.0f} microseconds", found, info.highest)
                            : fmt::format("{}: expected at least {:g} microseconds", found, info.lowest));
  }
  return us;
}

std::optional<std::uint32_t> count(const json& args, const char* key, const std::string& path,
                                   const std::string& where) {
  const json& value = member(args, key);
  if (value.is_null()) {
    return std::nullopt;
  }
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
    fail(path, where, key, fmt::format("{} is not a whole number below 2^32", shown(value)));
  }
  return value.get<std::uint32_t>();
}

std::optional<Dim3> dims(const json& args, const char* key, const std::string& path, const std::string& where) {
  const json& value = member(args, key);
  if (value.is_null()) {
    return std::nullopt;
  }
  const bool three =
      value.is_array() && value.size() == 3 && std::all_of(value.begin(), value.end(), [](const json& n) {
        return n.is_number_unsigned() && n.get<std::uint64_t>() > 0 &&
               n.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
      });
  if (!three) {
    fail(path, where, key, fmt::format("{} is not three dimensions such as [128,1,1]", shown(value)));
  }
  return Dim3{value[0].get<std::uint32_t>(), value[1].get<std::uint32_t>(), value[2].get<std::uint32_t>()};
}

void check(const LaunchRow& row, const json& args, const std::string& path, const std::string& where) {
  const auto impossible = impossible_cell(row);
  if (!impossible) {
    return;
  }
  const char* key = kSmem;
  if (impossible->cell == LaunchCell::kGrid) {
    key = kGrid;
  } else if (impossible->cell == LaunchCell::kBlock) {
    key = kBlock;
  } else if (impossible->cell == LaunchCell::kRegisters) {
    key = kRegisters;
  }
  fail(path, where, key, fmt::format("{}: expected {}", shown(member(args, key)), impossible->expected));
}

/// Work of the GPU is one event with its duration, not a begin and an end, each of which would count as a launch.
void expect_complete(const json& event, const std::string& path, const std::string& where) {
  const json& phase = member(event, "ph");
  if (!phase.is_null() && phase != "X") {
    fail(path, where, "ph",
         fmt::format("{}: expected \"X\", a complete event with its duration, as PyTorch's profiler writes a {}",
                     shown(phase), text(event, "cat")));
  }
}

/// The numbers of a tensor's list; of a list of tensors those of its first. Nothing for anything else.
std::optional<std::vector<std::int64_t>> numbers(const json& value) {
  if (!value.is_array()) {
    return std::nullopt;
  }
  std::vector<std::int64_t> out;
  for (const json& n : !value.empty() && value.front().is_array() ? value.front() : value) {
    if (!n.is_number_integer()) {
      return std::nullopt;
    }
    out.push_back(n.get<std::int64_t>());
  }
  return out;
}

/// The same of a tensor's dimensions; UnsupportedError that shows what is none.
std::vector<std::int64_t> dimensions(const json& value, const std::string& name, std::size_t i) {
  auto out = numbers(value);
  if (!out) {
    throw UnsupportedError(fmt::format("Input Dims of {}: argument {} is {}, no list of whole numbers such as [64,32]",
                                       name, i + 1, shown(value)));
  }
  return *std::move(out);
}

RecordedOperator recorded(const json& event, const std::string& name) {
  const json& args = member(event, "args");
  RecordedOperator op;
  op.name = name;
  // Older traces write "Input dims" and "Input type", newer ones add strides and the values of scalars.
  const json& dims = args.contains("Input Dims") ? member(args, "Input Dims") : member(args, "Input dims");
  const json& strides = member(args, "Input Strides");
  const json& types = member(args, "Input type");
  const json& values = member(args, "Concrete Inputs");
  const auto at = [](const json& list, std::size_t i) -> const json& {
    static const json kNull;
    return list.is_array() && i < list.size() ? list[i] : kNull;
  };
  const auto word = [&](const json& list, std::size_t i) {
    const json& value = at(list, i);
    return value.is_string() ? value.get<std::string>() : std::string{};
  };
  if (!dims.is_null() && !dims.is_array()) {
    throw UnsupportedError(
        fmt::format("Input Dims of {}: {} is no list with the dimensions of each argument", name, shown(dims)));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    op.arguments.push_back({dimensions(dims[i], name, i), numbers(at(strides, i)).value_or(std::vector<std::int64_t>{}),
                            word(types, i), word(values, i)});
  }
  return op;
}

OperatorFacts facts_of(const json& event) {
  OperatorFacts facts;
  facts.name = text(event, "name");
  try {
    facts.cells = cells_of_operator(recorded(event, facts.name));
  } catch (const UnsupportedError& error) {
    facts.shape_missing = error.what();
  }
  return facts;
}

constexpr const char* kSeveral = "several operators";

std::string described(const OperatorFacts& facts) {
  return facts.cells.shape.empty() ? facts.name : fmt::format("{} ({})", facts.name, facts.cells.shape);
}

/// The index of `value` among the kept ones, kept now if its key is new.
template <typename Value>
std::uint32_t intern(std::string key, Value value, std::vector<Value>& kept,
                     std::unordered_map<std::string, std::uint32_t>& index) {
  const auto [it, fresh] = index.try_emplace(std::move(key), static_cast<std::uint32_t>(kept.size()));
  if (fresh) {
    kept.push_back(std::move(value));
  }
  return it->second;
}

}  // namespace

void KinetoEvents::add(const json& event, const std::string& path, const std::string& where) {
  const std::string category = text(event, "cat");
  if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset") {
    expect_complete(event, path, where);
  }
  if (category == "kernel") {
    add_kernel(event, path, where);
  } else if (category == "cpu_op") {
    static_cast<void>(checked_name(event, path, where));
    add_operator(event);
  } else if (category == "cuda_runtime" || category == "cuda_driver") {
    add_launch_call(event);
  } else if (category == "gpu_memcpy" || category == "gpu_memset") {
    ++driver_.count;
    if (const auto us = duration_us(event, path, where)) driver_.us = driver_.us.value_or(0) + *us;
  }
}

void KinetoEvents::add_kernel(const json& event, const std::string& path, const std::string& where) {
  const json& args = member(event, "args");
  LaunchRow row;
  row.kernel = checked_name(event, path, where);
  if (row.kernel.empty()) {  // elsewhere a launch without a name asks for a choice of kernel
    fail(path, where, "name", fmt::format("{} is not a kernel's name", shown(member(event, "name"))));
  }
  row.grid = dims(args, kGrid, path, where);
  row.block = dims(args, kBlock, path, where);
  row.registers = count(args, kRegisters, path, where);
  if (row.registers == 0U) {
    row.registers.reset();  // not recorded: every thread has some
  }
  row.smem_dynamic = count(args, kSmem, path, where);
  check(row, args, path, where);
  KernelEvent launch;
  launch.start_us = time_us(event, "ts", path, where).value_or(0);
  launch.us = duration_us(event, path, where);
  launch.operator_id = operator_id(args);
  launch.correlation = integer(args, "correlation");
  if (const json& device = member(args, "device"); device.is_number_integer()) {
    ++devices_[device.get<std::int64_t>()];
  }
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", row.kernel, member(args, kGrid).dump(),
                                member(args, kBlock).dump(), row.registers.value_or(0), row.smem_dynamic.value_or(0));
  launch.kernel = intern(std::move(key), std::move(row), kernels_, kernel_index_);
  launches_.push_back(launch);
}

void KinetoEvents::add_operator(const json& event) {
  const std::int64_t id = operator_id(member(event, "args"));
  if (id == 0) {
    return;
  }
  const std::uint32_t index = keep(facts_of(event));
  const auto [it, fresh] = operators_.try_emplace(id, index);
  if (fresh || it->second == index) {
    return;
  }
  const OperatorFacts& other = facts_[it->second];
  if (other.name != kSeveral) {  // a third one adds nothing
    it->second = keep({kSeveral,
                       {},
                       fmt::format("External id {} is that of {} and of {}, so its operator is not known; expected a "
                                   "trace of one process, where each call has an id of its own",
                                   id, described(other), described(facts_[index]))});
  }
}

std::uint32_t KinetoEvents::keep(OperatorFacts facts) {
  const OperatorCells& c = facts.cells;
  std::string key = fmt::format("{}\n{}\n{}\n{}", facts.name, c.dtype, c.shape, facts.shape_missing);
  return intern(std::move(key), std::move(facts), facts_, facts_index_);
}

void KinetoEvents::add_launch_call(const json& event) {
  const json& args = member(event, "args");
  const std::int64_t correlation = integer(args, "correlation");
  if (text(event, "name").find("GraphLaunch") != std::string::npos) {
    graphs_.insert(correlation);
  } else if (const std::int64_t id = operator_id(args); id != 0) {
    calls_[correlation] = id;
  }
}

void KinetoEvents::finish() {
  std::stable_sort(launches_.begin(), launches_.end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.start_us < b.start_us; });
  std::unordered_map<std::int64_t, std::uint32_t> last;
  for (std::uint32_t i = 0; i < launches_.size(); ++i) {
    KernelEvent& launch = launches_[i];
    const auto call = calls_.find(launch.correlation);
    if (launch.operator_id == 0 && call != calls_.end()) {
      launch.operator_id = call->second;
    }
    std::uint32_t& before = launch.operator_id == 0 ? launch.previous : last[launch.operator_id];
    launch.previous = before;
    launch.seq = before == 0 ? 1 : launches_[before - 1].seq + 1;
    before = launch.operator_id == 0 ? 0 : i + 1;
  }
}

const OperatorFacts& KinetoEvents::operator_of(const KernelEvent& launch) const {
  static const OperatorFacts kGraph{
      "graph", {}, "launched by a CUDA graph, whose operators are not in the trace: profile a run without CUDA graphs"};
  static const OperatorFacts kUnknown{
      "kernel", {}, "no operator in the trace launched it: profile with activities=[CPU, CUDA] and record_shapes=True"};
  const auto it = operators_.find(launch.operator_id);
  if (it != operators_.end()) {
    return facts_[it->second];
  }
  return graphs_.contains(launch.correlation) ? kGraph : kUnknown;
}

}  // namespace strata::app
