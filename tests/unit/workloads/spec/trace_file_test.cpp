/// Trace files: replay gives the recorded operations; damaged files are refused with a reason.
#include "workloads/spec/trace_file.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>

#include "sim/base/error.hpp"

using namespace strata;

namespace {

/// Two streams per CTA; addresses, counts, kinds and batch sizes vary in ways that no predictor foresees.
class Irregular final : public TraceSource {
 public:
  explicit Irregular(std::uint32_t ctas) {
    launch_.name = "irregular<\"quoted\">";
    launch_.family = "test";
    launch_.grid = Dim3{ctas / 2, 2, 1};
    launch_.cluster = Dim3{1, 2, 1};
    launch_.block = Dim3{64, 1, 1};
    launch_.streams = {StreamInfo{0, 1, "producer"}, StreamInfo{1, 1, "consumer"}};
    launch_.mbarrier_arrivals[3] = 2;
    launch_.buffers = {Buffer{"in", 4096, 1 << 20}};
    launch_.work.tensor_flops = 1.5;
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = 1000 - 7 * i;
  }
  [[nodiscard]] const Launch& launch() const override { return launch_; }
  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    const std::uint64_t length = (id.cta * 37 + id.stream * 11) % 90;
    std::uint32_t n = 0;
    const std::uint64_t batch = cursor.state[0] % 5 + 1;
    while (n < batch && cursor.state[0] < length) {
      out[n] = Operation{};
      make(id, cursor.state[0]++, out[n++]);
    }
    return n;
  }
  [[nodiscard]] std::span<const std::uint64_t, 32> lane_addresses(std::uint32_t) const override { return table_; }

 private:
  static void make(const StreamId& id, std::uint64_t i, Operation& op) {
    const std::uint64_t hash = (id.cta * 1000003 + id.stream * 7919 + i) * 0x9e3779b97f4a7c15ULL;
    op.kind = static_cast<OpKind>(hash >> 8 & 7);
    op.pc = static_cast<std::uint16_t>(i % 13);
    op.issue_slots = static_cast<std::uint32_t>(hash >> 20 & 3);
    op.warp_insts = op.issue_slots;
    op.waits[1] = Wait{TokenClass::kMbarrier, 3, static_cast<std::uint32_t>(hash >> 16)};
    op.waits[2].count = 77;  // unused wait, kept all the same
    op.completes[0] =
        Signal{TokenClass::kScoreboard, 1, SignalAt::kOperandsRead, 2, static_cast<std::uint16_t>(id.cluster_rank + 1)};
    op.mem.address = i % 3 == 0 ? 0 : hash;
    op.mem.row_pitch = -static_cast<std::int64_t>(i % 2);
    op.mem.lane_pitch = i % 2 == 0 ? -4 : 4;
    op.mem.rows = 1;
    op.mem.row_bytes = 64;
    if (i % 7 == 0) {
      op.mem.pattern = Pattern::kTable;
      op.mem.table_index = static_cast<std::uint32_t>(i);
    }
  }
  Launch launch_;
  std::array<std::uint64_t, 32> table_{};
};

bool same(const Operation& a, const Operation& b) {
  const auto fields = [](const Operation& o) {
    return std::tie(o.kind, o.pipe, o.pc, o.issue_slots, o.pipe_work, o.dependent_latency, o.warp_insts, o.tensor_insts,
                    o.mma_m, o.mma_n, o.mma_k, o.mma_bits, o.mma_a_in_registers, o.mma_float8_promote, o.mma_count,
                    o.smem_read_wavefronts, o.smem_write_wavefronts, o.smem_conflicts);
  };
  const auto memory = [](const MemoryRef& m) {
    return std::tie(m.address, m.row_pitch, m.warp_pitch, m.rows, m.row_bytes, m.oob_bytes, m.oob_rows, m.lane_pitch,
                    m.table_index, m.multicast, m.lane_bytes, m.lanes, m.space, m.dir, m.policy, m.pattern);
  };
  bool equal = fields(a) == fields(b) && memory(a.mem) == memory(b.mem);
  for (std::size_t i = 0; i < a.waits.size(); ++i) {
    equal = equal && a.waits[i].cls == b.waits[i].cls && a.waits[i].slot == b.waits[i].slot &&
            a.waits[i].count == b.waits[i].count;
  }
  for (std::size_t i = 0; i < a.completes.size(); ++i) {
    const Signal& x = a.completes[i];
    const Signal& y = b.completes[i];
    equal = equal && x.cls == y.cls && x.slot == y.slot && x.at == y.at && x.arrivals == y.arrivals &&
            x.cta_mask == y.cta_mask;
  }
  return equal;
}

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / ("strata_trace_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_all(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("trace file: replay gives the same operations in the same batches", "[workloads][trace]") {
  const TemporaryFolder folder;
  const Irregular source(64);
  std::uint64_t reported = 0;
  record_trace(source, folder.file("a"), [&](std::uint64_t done, std::uint64_t all) {
    CHECK(all == 64);
    reported = done;
  });
  CHECK(reported == 64);
  verify_trace(folder.file("a"));
  const auto replay = open_trace(folder.file("a"));
  const Launch& l = replay->launch();
  CHECK(l.name == source.launch().name);
  CHECK(l.grid == source.launch().grid);
  CHECK(l.cluster == source.launch().cluster);
  CHECK(l.mbarrier_arrivals == source.launch().mbarrier_arrivals);
  CHECK(l.streams.size() == 2);
  CHECK(l.streams[1].role == "consumer");
  CHECK(l.buffers.at(0).bytes == 1 << 20);
  CHECK(l.work.tensor_flops == 1.5);
  std::array<Operation, TraceSource::kMinFetch> a;
  std::array<Operation, TraceSource::kMinFetch> b;
  std::uint64_t different = 0;
  std::uint64_t compared = 0;
  for (std::uint64_t cta = 0; cta < 64; ++cta) {
    for (std::uint32_t s = 0; s < 2; ++s) {
      const StreamId id{cta, s, static_cast<std::uint32_t>(cta / 32 % 2)};
      StreamCursor x;
      StreamCursor y;
      std::uint32_t n = 0;
      do {
        n = source.fetch(id, x, a);
        REQUIRE(replay->fetch(id, y, b) == n);
        for (std::uint32_t i = 0; i < n; ++i) different += same(a[i], b[i]) ? 0 : 1;
        compared += n;
      } while (n > 0);
    }
  }
  CHECK(different == 0);
  const TraceInfo info = inspect_trace(folder.file("a"));
  CHECK(info.operations == compared);
  CHECK(info.streams == 128);
  CHECK(replay->lane_addresses(7)[3] == 1000 - 21);
  CHECK_THAT(to_string(info), Catch::Contains("irregular") && Catch::Contains("consumer"));
}

TEST_CASE("trace file: any flipped bit and any missing byte is found", "[workloads][trace]") {
  const TemporaryFolder folder;
  record_trace(Irregular(8), folder.file("good"));
  const std::string good = read_all(folder.file("good"));
  const std::string bad = folder.file("bad");
  for (std::size_t at = 0; at < good.size(); at += 1 + at / 40) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    write_all(bad, bytes);
    INFO("byte " << at << " of " << good.size());
    CHECK_THAT(error_of([&] { verify_trace(bad); }), Catch::Contains(bad));
  }
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 10) {
    write_all(bad, good.substr(0, size));
    INFO("first " << size << " bytes");
    CHECK_THAT(error_of([&] { verify_trace(bad); }), Catch::Contains("trace"));
    CHECK_THAT(error_of([&] { (void)open_trace(bad); }), Catch::Contains("trace"));
  }
}

TEST_CASE("trace file: a damaged block is reported by the fetch that needs it", "[workloads][trace]") {
  const TemporaryFolder folder;
  record_trace(Irregular(64), folder.file("good"));
  std::string bytes = read_all(folder.file("good"));
  bytes[40] = static_cast<char>(bytes[40] ^ 4);
  write_all(folder.file("bad"), bytes);
  const auto source = open_trace(folder.file("bad"));
  std::array<Operation, TraceSource::kMinFetch> ops;
  StreamCursor cursor;
  CHECK_THAT(error_of([&] { source->fetch(StreamId{1, 0, 0}, cursor, ops); }), Catch::Contains("checksum of block 0"));
}

TEST_CASE("trace file: what is no trace, or a newer one, is refused by name", "[workloads][trace]") {
  const TemporaryFolder folder;
  write_all(folder.file("text"), "rows,cols\n1,2\n");
  CHECK_THAT(error_of([&] { (void)open_trace(folder.file("text")); }), Catch::Contains("is not a trace"));
  write_all(folder.file("empty"), "");
  CHECK_THAT(error_of([&] { (void)inspect_trace(folder.file("empty")); }), Catch::Contains("is not a trace"));
  record_trace(Irregular(2), folder.file("good"));
  std::string bytes = read_all(folder.file("good"));
  bytes[8] = 9;
  write_all(folder.file("newer"), bytes);
  CHECK_THAT(error_of([&] { (void)open_trace(folder.file("newer")); }),
             Catch::Contains("version 9") && Catch::Contains("reads version 2"));
  CHECK_THAT(error_of([&] { (void)open_trace(folder.file("absent")); }), Catch::Contains("absent"));
  CHECK_THAT(error_of([&] { (void)open_trace(std::filesystem::temp_directory_path().string()); }),
             Catch::Contains("regular file"));
}

TEST_CASE("trace file: an unwritable output leaves nothing behind", "[workloads][trace]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { record_trace(Irregular(2), folder.file("no/such/folder")); }),
             Catch::Contains("cannot write"));
  CHECK_THAT(error_of([&] { record_trace(Irregular(2), "/dev/null"); }), Catch::Contains("regular file"));
  CHECK(folder.entries() == 0);
  record_trace(Irregular(2), folder.file("good"));
  CHECK(folder.entries() == 1);
}
