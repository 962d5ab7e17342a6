#include "workloads/spec/trace_file_codec.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "workloads/spec/trace_file.hpp"

namespace strata::trace_file {
namespace {

/// Calls `f` with every field of a shape, in file order. Counts of unused waits belong to the shape.
template <typename Op, typename F>
void for_each_field(Op& op, F&& f) {
  f(op.kind);
  f(op.pipe);
  f(op.pc);
  for (auto& w : op.waits) {
    f(w.cls);
    f(w.slot);
    f(w.count);
  }
  for (auto& s : op.completes) {
    f(s.cls);
    f(s.slot);
    f(s.at);
    f(s.arrivals);
    f(s.cta_mask);
  }
  f(op.issue_slots);
  f(op.pipe_work);
  f(op.dependent_latency);
  f(op.warp_insts);
  f(op.tensor_insts);
  f(op.mma_m);
  f(op.mma_n);
  f(op.mma_k);
  f(op.mma_bits);
  f(op.mma_a_in_registers);
  f(op.mma_float8_promote);
  f(op.mma_count);
  f(op.smem_read_wavefronts);
  f(op.smem_write_wavefronts);
  f(op.smem_conflicts);
  auto& m = op.mem;
  f(m.address);
  f(m.row_pitch);
  f(m.warp_pitch);
  f(m.rows);
  f(m.row_bytes);
  f(m.oob_rows);
  f(m.oob_bytes);
  f(m.lane_pitch);
  f(m.table_index);
  f(m.multicast);
  f(m.lane_bytes);
  f(m.lanes);
  f(m.space);
  f(m.dir);
  f(m.policy);
  f(m.pattern);
}

template <typename T>
void read_field(ByteReader& in, T& field) {
  const std::int64_t v = in.zigzag();
  if constexpr (std::is_enum_v<T>) {
    field = static_cast<T>(v);
    if (v < 0 || v > 255) throw Malformed{"an operation with an unknown name"};
  } else if constexpr (std::is_same_v<T, bool>) {
    if (v < 0 || v > 1) throw Malformed{"an operation with a flag that is neither on nor off"};
    field = v != 0;
  } else if constexpr (sizeof(T) == 8) {
    field = static_cast<T>(v);
  } else {
    if (v < static_cast<std::int64_t>(std::numeric_limits<T>::min()) ||
        v > static_cast<std::int64_t>(std::numeric_limits<T>::max())) {
      throw Malformed{"an operation with a number out of range"};
    }
    field = static_cast<T>(v);
  }
}

void check_names(const Operation& op) {
  bool good = op.kind <= OpKind::kNop && op.pipe <= Pipe::kTensor && op.mem.space <= MemSpace::kConst &&
              op.mem.dir <= MemDir::kPrefetch && op.mem.policy <= CachePolicy::kBypassL1InPieces &&
              op.mem.pattern <= Pattern::kTable;
  for (const Wait& w : op.waits) good = good && w.cls <= TokenClass::kGlobalCounter;
  for (const Signal& s : op.completes)
    good = good && s.cls <= TokenClass::kGlobalCounter && s.at <= SignalAt::kDataVisible;
  if (!good) throw Malformed{"an operation with an unknown name"};
}

/// The shape keeps whether there is an address at all, as 0 or 1.
Operation shape_from(const Operation& op) {
  Operation shape = op;
  for (Wait& w : shape.waits) {
    if (w.cls != TokenClass::kNone) w.count = 0;
  }
  shape.mem.address = op.mem.address == 0 ? 0 : 1;
  if (op.mem.pattern == Pattern::kTable) shape.mem.table_index = 0;
  return shape;
}

Predictor& fresh(Predictor& p, std::uint32_t block) {
  if (p.block != block) {
    p = Predictor{};
    p.block = block;
  }
  return p;
}

}  // namespace

std::uint32_t OperationEncoder::shape_of(const Operation& op) {
  const Operation shape = shape_from(op);
  // Same bytes, same shape. Different bytes may be the same shape yet (padding), so the rest decides.
  std::size_t place = op.pc * kNumOpKinds + static_cast<std::size_t>(op.kind);
  place += std::size_t{op.waits[0].slot} * 37 + std::size_t{op.completes[0].slot} * 101 + op.completes[1].slot;
  Recent& recent = recent_[place % recent_.size()];
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  if (recent.valid && std::memcmp(&recent.shape, &shape, sizeof(shape)) == 0) return recent.id;
  key_.clear();
  for_each_field(shape, [this](const auto& field) { key_.zigzag(static_cast<std::int64_t>(field)); });
  const std::span<const std::byte> bytes = key_.bytes();
  const std::string key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto [it, added] = ids_.try_emplace(key, static_cast<std::uint32_t>(shapes_.size()));
  if (added) {
    shapes_.push_back(shape);
    predictors_.emplace_back();
  }
  std::memcpy(&recent.shape, &shape, sizeof(shape));
  recent.id = it->second;
  recent.valid = true;
  return it->second;
}

void OperationEncoder::encode(const Operation& op, bool first, ByteWriter& out) {
  const std::uint32_t id = shape_of(op);
  Predictor& p = fresh(predictors_[id], block_);
  out.varint(std::uint64_t{id} * 2 + (first ? 1 : 0));
  if (op.mem.address != 0) {
    const std::uint64_t step = op.mem.address - p.address;
    out.zigzag(static_cast<std::int64_t>(step - p.address_step));
    p.address = op.mem.address;
    p.address_step = step;
  }
  for (std::size_t i = 0; i < op.waits.size(); ++i) {
    if (op.waits[i].cls == TokenClass::kNone) continue;
    const std::uint32_t step = op.waits[i].count - p.count[i];
    out.zigzag(static_cast<std::int32_t>(step - p.count_step[i]));
    p.count[i] = op.waits[i].count;
    p.count_step[i] = step;
  }
  if (op.mem.pattern == Pattern::kTable) {
    const std::uint32_t step = op.mem.table_index - p.table;
    out.zigzag(static_cast<std::int32_t>(step - p.table_step));
    p.table = op.mem.table_index;
    p.table_step = step;
  }
}

void OperationEncoder::write_shapes(ByteWriter& out) const {
  out.varint(shapes_.size());
  for (const Operation& shape : shapes_) {
    for_each_field(shape, [&out](const auto& field) { out.zigzag(static_cast<std::int64_t>(field)); });
  }
}

void OperationDecoder::read_shapes(ByteReader& in) {
  shapes_.resize(in.count(1));
  for (Operation& shape : shapes_) {
    for_each_field(shape, [&in](auto& field) { read_field(in, field); });
    check_names(shape);
  }
  predictors_.assign(shapes_.size(), Predictor{});
}

void OperationDecoder::decode(std::uint64_t index, ByteReader& in, std::size_t count, std::vector<Operation>& ops,
                              std::vector<std::uint8_t>& first) {
  const auto block = static_cast<std::uint32_t>(index + 1);
  for (Predictor& p : predictors_) p.block = 0;
  ops.resize(count);
  first.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t head = in.varint();
    const std::uint64_t id = head / 2;
    if (id >= shapes_.size()) throw Malformed{"an operation of no known shape"};
    first[i] = head & 1;
    Operation& op = ops[i];
    op = shapes_[id];
    Predictor& p = fresh(predictors_[id], block);
    if (op.mem.address != 0) {
      p.address_step += static_cast<std::uint64_t>(in.zigzag());
      p.address += p.address_step;
      op.mem.address = p.address;
    }
    for (std::size_t w = 0; w < op.waits.size(); ++w) {
      if (op.waits[w].cls == TokenClass::kNone) continue;
      p.count_step[w] += static_cast<std::uint32_t>(in.zigzag());
      p.count[w] += p.count_step[w];
      op.waits[w].count = p.count[w];
    }
    if (op.mem.pattern == Pattern::kTable) {
      p.table_step += static_cast<std::uint32_t>(in.zigzag());
      p.table += p.table_step;
      op.mem.table_index = p.table;
    }
  }
  if (in.left() != 0) throw Malformed{"bytes after the last operation of a block"};
}

}  // namespace strata::trace_file
