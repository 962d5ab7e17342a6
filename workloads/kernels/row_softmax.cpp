#include "workloads/kernels/row_softmax.hpp"

#include <algorithm>
#include <bit>

#include "sim/base/error.hpp"
#include "workloads/kernels/block_reduce.hpp"
#include "workloads/kernels/cta_program.hpp"
#include "workloads/spec/instruction.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kVectorBytes = 16;
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kWarpFormCols = 2048;
constexpr std::uint64_t kWarpFormBytes = 8192;
constexpr double kFewElements = 4;                   ///< of a thread, whose bounds stay in registers
constexpr std::uint64_t kRegisterFormElements = 10;  ///< of a thread, exclusive
constexpr std::uint64_t kStaticSmemLimit = 48 * 1024;

// Instructions per element, from compiled code (sm_90, CUDA 13) of the same source, whose totals the calibration rows
// confirm: expf is 7 FMA, a shift and MUFU; the full-precision division 5 FMA, MUFU, FCHK and a branch around the rare
// slow path (BSSY, BRA, BSYNC).
constexpr Arithmetic kExp{.fma = 7, .alu = 1, .mufu = 1, .other = 0, .chain = 11};
constexpr Arithmetic kDivide{.fma = 5, .alu = 0, .mufu = 2, .other = 4, .chain = 16};
constexpr Arithmetic kSubtractLog{.fma = 2, .alu = 0, .mufu = 0, .other = 0, .chain = 2};
constexpr TreeLevel kMaxLevel{.combine = {.fma = 0, .alu = 2, .mufu = 0, .other = 0, .chain = 2}, .shuffles = 1};
constexpr TreeLevel kSumLevel{.combine = {.fma = 1, .alu = 0, .mufu = 0, .other = 0, .chain = 1}, .shuffles = 1};

// 44 instructions of a warp-form warp and 36 per fp32 element (620 = 44 + 16 * 36; bf16 1260 = 44 + 32 * 38): 25 are
// the two shuffle trees, 19 the set-up. Executed SASS (H200): the 16 before the trees are taken for every element that
// the kernel is compiled for, the 20 of division and store only for those that the row has. Of 36, one load, one store
// and S2R, which the wavefront counter includes.
constexpr double kWarpSetup = 19;
/// Elements of 16 bits are converted under the predicate of their load, of which a warp has seven: so many are loaded,
/// waited for and converted before the next. SASS of PyTorch (2048 columns, H200: ten waits for 64 loads, 390 to 770
/// clk each) and of the same source with 256 to 2048 columns. Elements of 32 bits are loaded all at once.
constexpr std::uint32_t kLoadGroup = 7;
/// Of kWarpLoad and the conversion, what is done to an element of a group before the next load: bounds, address, move.
constexpr Arithmetic kGroupLoad{.fma = 1, .alu = 3, .mufu = 0, .other = 0, .chain = 0};
constexpr Arithmetic kWarpLoad{.fma = 1, .alu = 5, .mufu = 0, .other = 0, .chain = 0};
constexpr Arithmetic kWarpStore{.fma = 0, .alu = 3, .mufu = 0, .other = 5, .chain = 0};
/// Clocks per instruction of a warp alone in softmax_warp_forward, by stall samples of two instances with 1024 and 2048
/// columns (Nsight Compute, H200; fetches and memory left out): 4.3 and 3.1 up to the sum, 6.9 and 7.4 in the
/// divisions, which branch around their slow path.
constexpr double kWarpLoadClocks = 3.7;
constexpr double kWarpDivideClocks = 7.1;
/// The slow path of a division, which FCHK asks for where the dividend is zero: the call and the subroutine of sm_90,
/// 36 instructions as executed; HFMA2.MMA among them is on the tensor-pipe counter.
constexpr double kZeroCall = 5;  ///< of them, at every division
constexpr Arithmetic kZeroDivide{.fma = 2, .alu = 24, .mufu = 0, .other = 10, .chain = 36};
// Register form: 619 instructions per warp of 8 bf16 elements, 57 of them for the reductions, 37 the set-up. The three
// parts of an element are told apart in compiled code: 64-bit index and bounds check, load; sum; address, S2R, store.
constexpr double kRegisterSetup = 37;
// Executed SASS (PyTorch, H200): of 619, 183 on the ALU and 243 on the FMA pipe, 77 of those index arithmetic.
constexpr Arithmetic kRegisterLoad{.fma = 5, .alu = 8, .mufu = 0, .other = 0, .chain = 2};
constexpr Arithmetic kRegisterSum{.fma = 1, .alu = 1, .mufu = 0, .other = 2, .chain = 1};
constexpr Arithmetic kRegisterStore{.fma = 4.5, .alu = 7.5, .mufu = 0, .other = 3.6, .chain = 0};
// 16 B forms, executed SASS (three passes over bf16, H200): 26, 92 and 192 instructions of a trip with 8 elements.
// Beside load, store, maxima, exponentials (whose last multiplication adds to the sum) and divisions: address and loop;
// two constants, in the third pass one for every element; 1.5 to unpack an element of a pair. 22 + 35 before the first
// pass, 194 - 57 after passes, reductions included. IMAD.WIDE and HFMA2.MMA of a trip are on the tensor-pipe counter:
// 1, 2, 4.
constexpr Arithmetic kVectorLoop{.fma = 1, .alu = 3, .mufu = 0, .other = 1, .chain = 4};
constexpr Arithmetic kConstant{.alu = 1};
constexpr Arithmetic kExpSum{.fma = 7, .alu = 1, .mufu = 1, .other = 0, .chain = 12};
constexpr double kUnpackOfPair = 1.5;
constexpr double kBlockSetup = 57;
constexpr double kAfterMaxima = 25;
constexpr double kAfterSums = 40;
constexpr std::uint32_t kBlockSetupWavefronts = 5;  ///< S2R and S2UR: 19.5 of a warp with the reductions, as counted
constexpr std::uint32_t kBlockTensorCounted = 1;

double unpack(DataType t) { return bits_of(t) < 32 ? 1 : 0; }

Arithmetic finish(const SoftmaxConfig& c) { return c.logarithm ? kSubtractLog : kDivide; }

/// Divisions of a warp with a lane whose dividend is zero, as a share: each is of `width` neighbouring columns, and the
/// exponential of what is masked with -inf is zero.
double zero_share(const SoftmaxConfig& c, std::uint64_t width) {
  if (c.causal_queries == 0 || c.logarithm) return 0;
  double zero = 0;
  for (std::uint64_t first = 0; first < c.cols; first += width) {
    const std::uint64_t last = std::min(first + width, c.cols) - 1;
    zero += static_cast<double>(std::min(last, c.causal_queries));  // rows that end before `last`
  }
  return zero / static_cast<double>(ceil_div(c.cols, width)) / static_cast<double>(c.causal_queries);
}

/// The bits that PyTorch's launch code fixes whatever the row: launch, buffers, work.
Launch launch_of(const SoftmaxConfig& c) {
  Launch l;
  l.name = c.name;
  l.family = "softmax";
  l.registers_per_thread = c.registers;
  l.code_bytes = 24 << 10;  // up to 22 KiB are executed
  const std::uint64_t elements = c.rows * c.cols;
  add_buffer(l, "input", elements * bits_of(c.input) / 8);
  add_buffer(l, "output", elements * bits_of(c.output) / 8);
  l.work.compulsory_read_bytes = static_cast<double>(l.buffers[0].bytes);
  l.work.compulsory_write_bytes = static_cast<double>(l.buffers[1].bytes);
  l.work.fp32_flops = 5.0 * static_cast<double>(elements);
  l.work.mufu_ops = (c.logarithm ? 1.0 : 2.0) * static_cast<double>(elements);
  return l;
}

/// Accesses to whole rows of the two tensors.
struct RowAccess {
  const SoftmaxConfig& c;
  const Launch& launch;
  std::uint32_t warps;
  [[nodiscard]] CtaStep load(double instructions) const {
    return access_step(MemDir::kLoad, launch.buffers[0].base, bits_of(c.input), c.cols * bits_of(c.input) / 8,
                       instructions, warps);
  }
  [[nodiscard]] CtaStep store(double instructions) const {
    return access_step(MemDir::kStore, launch.buffers[1].base, bits_of(c.output), c.cols * bits_of(c.output) / 8,
                       instructions, warps);
  }
};

/// Loads of a warp's row, kLoadGroup instructions at a time; `row`: the loop over all of it.
CtaLoop load_groups(const CtaLoop& row, const RowAccess& access, std::uint32_t warps) {
  CtaLoop groups = row;
  groups.tile.cols = std::uint64_t{kLoadGroup} * kWarpLanes;
  groups.tile.warp_cols = kWarpLanes;  // a load
  groups.trips = static_cast<std::uint32_t>(ceil_div(row.tile.cols_total, groups.tile.cols));
  Arithmetic convert = double{kLoadGroup} * kGroupLoad;
  convert.chain = issue_chain(convert.total(), kWarpLoadClocks);
  groups.steps = {access.load(kLoadGroup), compute_step(convert, warps)};
  return groups;
}

CtaProgram warp_program(const SoftmaxConfig& c) {
  CtaProgram p;
  p.launch = launch_of(c);
  const std::uint64_t padded = softmax_padded_cols(c);
  const auto lanes = static_cast<std::uint32_t>(std::min<std::uint64_t>(padded, kWarpLanes));
  const std::uint32_t batch = padded <= 128 ? 2 : 1;
  const std::uint32_t groups = c.threads / lanes;
  const std::uint32_t warps = c.threads / kWarpLanes;
  const std::uint64_t compiled = batch * padded / lanes;
  const auto elements = static_cast<double>(compiled);  // of a thread
  const double present = static_cast<double>(batch * ceil_div(c.cols, lanes));
  CtaLoop loop;
  loop.tile.rows = groups * batch;
  loop.tile.rows_total = c.rows;
  loop.tile.cols = c.cols;
  loop.tile.cols_total = c.cols;
  loop.tile.warp_cols = static_cast<std::uint32_t>(c.cols);
  p.launch.grid.x = static_cast<std::uint32_t>((c.rows + loop.tile.rows - 1) / loop.tile.rows);
  p.launch.block = Dim3{lanes, groups, 1};
  const RowAccess access{c, p.launch, warps};
  // Rows of few columns are two to a warp and nearly fit a group.
  const bool grouped = unpack(c.input) > 0 && batch == 1;
  Arithmetic first = elements * (kWarpLoad + kExp + Arithmetic{.alu = unpack(c.input)});
  if (grouped) first = first + -present * kGroupLoad;
  first = first + integer_code(kWarpSetup) + Arithmetic{.other = elements - present};  // loads that no lane takes
  first.chain = issue_chain(first.total(), kWarpLoadClocks);
  CtaStep maxima = compute_step(first, warps);
  maxima.op.smem_read_wavefronts = warps;  // S2R of the set-up
  maxima.op.tensor_insts = warps;          // one wide multiply, as the rows' counter shows
  const double zeros = present * zero_share(c, kWarpLanes);
  Arithmetic second = present * (kWarpStore + finish(c) + Arithmetic{.alu = unpack(c.output)}) + zeros * kZeroDivide;
  second.chain = issue_chain(second.total(), kWarpDivideClocks);
  CtaStep scaled = compute_step(second, warps, false);
  scaled.op.smem_read_wavefronts = rounded((elements + 1) * warps);
  scaled.op.tensor_insts = rounded(zeros * warps);
  // A warp executes its code once, so all of it is fetched: loads, stores and the calls that it jumps over included.
  double code = first.total() + elements + present * ((kWarpStore + finish(c)).total() + 1 + kZeroCall);
  if (grouped) code += present * kGroupLoad.total();
  p.launch.code_bytes = kInstructionBytes * rounded(code);
  if (grouped) {
    p.loops.push_back(load_groups(loop, access, warps));
    loop.steps = {maxima};
  } else {
    loop.steps = {access.load(present), maxima};
  }
  for (std::uint32_t b = 0; b < batch; ++b) {
    loop.steps.push_back(warp_reduce_step(kMaxLevel, lanes, warps));
    loop.steps.push_back(warp_reduce_step(kSumLevel, lanes, warps));
  }
  loop.steps.push_back(scaled);
  loop.steps.push_back(access.store(present));
  p.loops.push_back(loop);
  return p;
}

/// One row per CTA.
CtaTile row_tile(const SoftmaxConfig& c, std::uint64_t cols, std::uint32_t warp_cols) {
  CtaTile t;
  t.rows_total = c.rows;
  t.cols = cols;
  t.cols_total = c.cols;
  t.warp_cols = warp_cols;
  return t;
}

CtaProgram register_program(const SoftmaxConfig& c) {
  CtaProgram p;
  p.launch = launch_of(c);
  p.launch.grid.x = static_cast<std::uint32_t>(c.rows);
  p.launch.block = Dim3{c.threads, 1, 1};
  const std::uint32_t warps = c.threads / kWarpLanes;
  p.launch.smem_dynamic_bytes = warps * 4;
  const auto elements = static_cast<double>(ceil_div(c.cols, c.threads));
  const RowAccess access{c, p.launch, warps};
  CtaLoop loop;
  loop.tile = row_tile(c, c.cols, static_cast<std::uint32_t>(c.cols));
  // Instances with few elements work out an index once: 318 instructions for 4 elements, 82 on the ALU and 126 on the
  // FMA pipe (executed SASS, H200), where 8 take 619.
  const bool few = elements <= kFewElements;
  const Arithmetic load = few ? Arithmetic{.fma = 5, .alu = 4.5, .mufu = 0, .other = 0, .chain = 2} : kRegisterLoad;
  const Arithmetic put = few ? Arithmetic{.fma = 4.5, .alu = 4, .mufu = 0, .other = 1.1, .chain = 0} : kRegisterStore;
  Arithmetic maxima = elements * (load + Arithmetic{.alu = unpack(c.input)});
  maxima = maxima + integer_code(kRegisterSetup);
  CtaStep first = compute_step(maxima, warps);
  first.op.smem_read_wavefronts = 3 * warps;  // S2R
  const Arithmetic exponentials = elements * (kExp + kRegisterSum);
  const double zeros = elements * zero_share(c, kWarpLanes);
  const Arithmetic outputs =
      elements * (kExp + finish(c) + put + Arithmetic{.alu = unpack(c.output)}) + zeros * kZeroDivide;
  CtaStep last = compute_step(outputs, warps, false);
  // S2R, read again for every element, but for instances with few, whose launches count 2 beyond the reductions'.
  last.op.smem_read_wavefronts = rounded((few ? 2 : elements + 1) * warps);
  last.op.tensor_insts = rounded((elements + 1) * warps);
  loop.steps = {access.load(elements),
                first,
                block_reduce_step(kMaxLevel, warps),
                compute_step(exponentials, warps, false),
                block_reduce_step(kSumLevel, warps),
                last,
                access.store(elements)};
  p.loops = {loop};
  return p;
}

/// A pass over the row in 16 B vectors, a CTA's width of them at a time.
CtaLoop vector_pass(const SoftmaxConfig& c, const Arithmetic& per_vector, std::uint32_t warps, double wavefronts,
                    std::uint32_t tensor_counted) {
  const std::uint32_t vector = kVectorBytes * 8 / bits_of(c.input);
  CtaLoop loop;
  loop.tile = row_tile(c, std::uint64_t{c.threads} * vector, kWarpLanes * vector);
  loop.trips = static_cast<std::uint32_t>((c.cols + loop.tile.cols - 1) / loop.tile.cols);
  CtaStep work = compute_step(per_vector + kVectorLoop, warps);
  work.op.smem_read_wavefronts = rounded(wavefronts * warps);
  work.op.tensor_insts = tensor_counted * warps;
  loop.steps = {work};
  return loop;
}

/// The forms with 16 B accesses: three passes over the row, in shared memory or by reading it again.
CtaProgram vector_program(const SoftmaxConfig& c) {
  CtaProgram p;
  p.launch = launch_of(c);
  p.launch.grid.x = static_cast<std::uint32_t>(c.rows);
  p.launch.block = Dim3{c.threads, 1, 1};
  const std::uint32_t warps = c.threads / kWarpLanes;
  const bool shared = c.form == SoftmaxForm::kShared;
  p.launch.smem_dynamic_bytes = warps * 4;
  if (shared) p.launch.smem_dynamic_bytes += static_cast<std::uint32_t>(c.cols * bits_of(c.input) / 8);
  const RowAccess access{c, p.launch, warps};
  const double wavefronts = shared ? 4 : 0;  // of a 16 B access
  const std::uint32_t vector = kVectorBytes * 8 / bits_of(c.input);
  const Arithmetic reading{.alu = kUnpackOfPair * unpack(c.input)};
  const double zeros = zero_share(c, std::uint64_t{kWarpLanes} * vector);
  const Arithmetic output = kExp + finish(c) + kConstant + Arithmetic{.alu = 0.5 * unpack(c.output)};
  CtaLoop maxima = vector_pass(c, vector * (reading + Arithmetic{.alu = 1, .chain = 1}), warps, wavefronts, 1);
  CtaLoop sums = vector_pass(c, vector * (reading + kExpSum) + 2 * kConstant, warps, wavefronts, 2);
  CtaLoop outputs = vector_pass(c, vector * (reading + output + zeros * kZeroDivide), warps, wavefronts, 4);
  maxima.steps.insert(maxima.steps.begin(), access.load(1));
  if (!shared) {
    sums.steps.insert(sums.steps.begin(), access.load(1));
    outputs.steps.insert(outputs.steps.begin(), access.load(1));
  }
  outputs.steps.push_back(access.store(bits_of(c.output) > bits_of(c.input) ? 2 : 1));
  const auto once = [&](double instructions) {
    CtaLoop loop;
    loop.tile = row_tile(c, c.cols, static_cast<std::uint32_t>(c.cols));
    loop.steps = {compute_step(integer_code(instructions), warps, false)};
    return loop;
  };
  CtaLoop before = once(kBlockSetup);
  before.steps[0].op.smem_read_wavefronts = kBlockSetupWavefronts * warps;
  before.steps[0].op.tensor_insts = kBlockTensorCounted * warps;
  CtaLoop maximum = once(kAfterMaxima);
  maximum.steps.push_back(block_reduce_step(kMaxLevel, warps));
  CtaLoop sum = once(kAfterSums);
  sum.steps.push_back(block_reduce_step(kSumLevel, warps));
  p.loops = {before, maxima, maximum, sums, sum, outputs};
  return p;
}

}  // namespace

const char* to_string(SoftmaxForm form) {
  static constexpr const char* kWords[] = {"a warp per row", "elements in registers", "rows in shared memory",
                                           "rows read three times"};
  return kWords[static_cast<std::size_t>(form)];
}

std::uint64_t softmax_padded_cols(const SoftmaxConfig& config) { return std::bit_ceil(config.cols); }

void choose_softmax_form(SoftmaxConfig& c) {
  const std::uint64_t bytes = c.cols * bits_of(c.input) / 8;
  if (c.cols <= kWarpFormCols && bytes <= kWarpFormBytes) {
    c.form = SoftmaxForm::kWarp;
    c.threads = 128;
    c.registers = softmax_padded_cols(c) >= 1024 ? 48 : 32;
    return;
  }
  const std::uint64_t threads = std::min(kMaxThreads, (c.cols + kWarpLanes - 1) / kWarpLanes * kWarpLanes);
  c.threads = static_cast<std::uint32_t>(threads);
  c.registers = 32;
  const std::uint64_t vector = kVectorBytes * 8 / bits_of(c.input);
  if ((c.cols + threads - 1) / threads < kRegisterFormElements) {
    c.form = SoftmaxForm::kRegisters;
    if ((c.cols + threads - 1) / threads >= 8) c.registers = 40;
  } else if (bytes < kStaticSmemLimit - threads / kWarpLanes * 4 && c.cols % vector == 0) {
    c.form = SoftmaxForm::kShared;
  } else {
    c.form = SoftmaxForm::kGlobal;
  }
}

std::unique_ptr<TraceSource> make_row_softmax(const SoftmaxConfig& c) {
  if (c.rows == 0 || c.cols == 0 || c.threads == 0 || c.threads % kWarpLanes != 0 || c.threads > kMaxThreads) {
    throw ModelBug("softmax: inconsistent configuration");
  }
  switch (c.form) {
    case SoftmaxForm::kWarp:
      return make_cta_program(warp_program(c));
    case SoftmaxForm::kRegisters:
      return make_cta_program(register_program(c));
    case SoftmaxForm::kShared:
    case SoftmaxForm::kGlobal:
      break;
  }
  return make_cta_program(vector_program(c));
}

}  // namespace strata
