#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "sim/app/profile/launch_reader.hpp"
#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "tests/support/temporary_file.hpp"

using namespace strata;
using namespace strata::app;
using strata::test::TemporaryFile;

namespace {

std::string sample(const char* name) {
  return std::string(STRATA_SOURCE_DIR) + "/validation/data/h100-sxm5-80gb/profiles/" + name;
}

std::vector<ProfiledLaunch> read(const std::string& path) {
  const auto reader = open_kineto_trace(path, {});
  std::vector<ProfiledLaunch> launches;
  ProfiledLaunch launch;
  while (reader->next(launch)) {
    launches.push_back(launch);
  }
  return launches;
}

std::string error_of(const std::string& text) {
  const TemporaryFile file(text);
  try {
    (void)read(file.path());
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

std::string gzipped(const std::string& text) {
  const TemporaryFile file("");
  const gzFile out = gzopen(file.path().c_str(), "wb");
  REQUIRE(gzwrite(out, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(out) == Z_OK);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string events(const std::string& list) { return "{\n\"traceEvents\": [\n" + list + "\n]}\n"; }

const char* const kMm = R"({"cat":"cpu_op","name":"aten::mm","args":{"External id":5,"Input Dims":[[64,32],[32,16]],)"
                        R"("Input type":["float","float"]}})";

std::string kernel(const std::string& args, const std::string& times = R"("ts":10,"dur":2.5)") {
  return R"({"cat":"kernel","name":"ampere_sgemm_64x32_nn",)" + times + R"(,"args":{)" + args + "}}";
}

}  // namespace

TEST_CASE("Kineto: what nests deep, is no list or holds odd names is one clear line") {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(error_of(events(kernel("\"grid\":" + deep))).find("traceEvents[0]: nests deeper than 64") != std::string::npos);
  CHECK(error_of("{\"deviceProperties\":" + deep + "}").find("nests deeper than 64") != std::string::npos);
  std::string wide;
  for (int i = 0; i < 10000; ++i) wide += "1,";
  CHECK(error_of(events(kernel("\"grid\":[" + wide + "1]"))).size() < 1000);
  CHECK(error_of(R"({"traceEvents":{"a":1}})").find("traceEvents: is no list") != std::string::npos);
  CHECK(error_of(R"({"traceEvents":[],"traceEvents":[]})").find("traceEvents: is there twice") != std::string::npos);
  const std::string zero = R"({"cat":"kernel","name":"a\u0000b","args":{}})";
  CHECK(error_of(events(zero)).find("traceEvents[0].name: holds a zero byte") != std::string::npos);
  const std::string huge = R"({"cat":"kernel","name":")" + std::string(70000, 'a') + R"(","args":{}})";
  CHECK(error_of(events(huge)).find("has 70000 bytes; expected at most 65536") != std::string::npos);
}

TEST_CASE("Kineto: a duration of zero is below the profiler's clock: not measured") {
  const TemporaryFile file(events(kernel(R"("grid":[1,1,1],"block":[32,1,1])", R"("ts":1,"dur":0)")));
  CHECK_FALSE(read(file.path()).at(0).measured[Quantity::kDurationUs]);
}

TEST_CASE("Kineto: launches take their shape from the operator that made them") {
  const std::vector<ProfiledLaunch> launches = read(sample("kineto_llama2-7b_decode_layer.json"));
  REQUIRE(launches.size() == 25);
  const LaunchRow& norm = launches[0].job.row;
  CHECK(norm.op == "rmsnorm");
  CHECK(norm.shape == "16,4096");
  CHECK(norm.grid == Dim3{16, 1, 1});
  CHECK(norm.registers == 27U);
  CHECK(launches[0].measured[Quantity::kDurationUs] == 7.552);
  std::map<std::string, int> products;
  for (const ProfiledLaunch& launch : launches) {
    CHECK(launch.shape_missing.empty());
    if (launch.job.row.op == "gemm") ++products[launch.job.row.shape];
  }
  CHECK(products ==
        std::map<std::string, int>{
            {"16,12288,4096,TN", 1}, {"16,22016,4096,TN", 1}, {"16,4096,11008,TN", 2}, {"16,4096,4096,TN", 2}});
}

TEST_CASE("Kineto: the sum of split-K parts knows the product of the same operator") {
  bool found = false;
  for (const ProfiledLaunch& launch : read(sample("kineto_llama2-7b_decode_layer.json"))) {
    const LaunchRow& row = launch.job.row;
    if (row.shape == "16,4096,4096,TN" && row.seq == "2") {
      found = true;
      CHECK(row.producer_kernel == "nvjet_sm90_tst_128x16_64x11_4x1_v_bz_splitK_TNT");
      CHECK(row.producer_grid == Dim3{4, 16, 1});
    }
  }
  CHECK(found);
}

TEST_CASE("Kineto: launches resolve as the same launches did under Nsight Compute") {
  const TargetFacts target = test::hopper_facts();
  const auto key = [](const LaunchRow& row) {
    std::string name = canonical_kernel_name(row.kernel);
    return name.substr(0, name.find('<')) + " " + row.shape.substr(0, row.shape.find(",cudnn"));
  };
  std::map<std::string, LaunchRow> recorded;
  const test::RecordedRows table("h100-sxm5-80gb/library_kernels.csv");
  for (const test::RecordedRow& row : table.all()) {
    recorded[key(row.launch)] = row.launch;
  }
  int matches = 0;
  for (const char* file : {"kineto_llama2-7b_decode_layer.json", "kineto_llama2-7b_prefill_layer.json"}) {
    for (const ProfiledLaunch& profiled : read(sample(file))) {
      const auto other = recorded.find(key(profiled.job.row));
      if (other == recorded.end()) continue;
      CAPTURE(other->first);
      ++matches;
      CHECK(profiled.job.row.op == other->second.op);
      CHECK(profiled.job.row.dtype == other->second.dtype);
      const BuiltKernel a = resolve_launch(profiled.job.row, target);
      const BuiltKernel b = resolve_launch(other->second, target);
      CHECK(a.description == b.description);
      CHECK(a.source->launch().grid == b.source->launch().grid);
      CHECK(a.source->launch().block == b.source->launch().block);
      CHECK(a.source->launch().cluster == b.source->launch().cluster);
      CHECK(a.source->launch().registers_per_thread == b.source->launch().registers_per_thread);
      CHECK(a.source->launch().smem_dynamic_bytes == b.source->launch().smem_dynamic_bytes);
      CHECK(a.source->launch().work.tensor_flops == b.source->launch().work.tensor_flops);
      CHECK(a.source->launch().work.compulsory_read_bytes == b.source->launch().work.compulsory_read_bytes);
    }
  }
  CHECK(matches >= 7);
}

TEST_CASE("Kineto: a launch whose operator or shapes are not recorded says what to record") {
  const auto missing = [](const std::string& list) {
    const TemporaryFile file(events(list));
    return read(file.path()).at(0).shape_missing;
  };
  CHECK(missing(kernel(R"("External id":5)") + "," + kMm).empty());
  CHECK(missing(kernel(R"("correlation":9)") + ",\n" + kMm +
                R"(,{"cat":"cuda_runtime","name":"cudaLaunchKernel","args":{"External id":5,"correlation":9}})")
            .empty());
  CHECK_THAT(missing(kernel(R"("External id":6)") + "," + kMm), Catch::Contains("no operator in the trace"));
  CHECK_THAT(missing(kernel(R"("correlation":9)") +
                     R"(,{"cat":"cuda_runtime","name":"cudaGraphLaunch","args":{"correlation":9}})"),
             Catch::Contains("CUDA graph"));
  CHECK_THAT(missing(kernel(R"("External id":7)") + R"(,{"cat":"cpu_op","name":"aten::mm","args":{"External id":7}})"),
             Catch::Contains("record_shapes=True"));
}

TEST_CASE("Kineto: launches come in the order of their start, whatever the order in the file") {
  const TemporaryFile file(events(kernel(R"("External id":5)", R"("ts":30,"dur":1)") + "," +
                                  kernel(R"("External id":5)", R"("ts":20,"dur":2)") + "," + kMm));
  const std::vector<ProfiledLaunch> launches = read(file.path());
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].measured[Quantity::kDurationUs] == 2.0);
  CHECK(launches[0].job.row.seq == "1");
  CHECK(launches[1].job.row.seq == "2");
  CHECK(launches[0].job.row.case_name == "aten::mm 5");
}

TEST_CASE("Kineto: a trace that PyTorch compressed reads as the plain one") {
  std::ifstream in(sample("kineto_llama2-7b_decode_layer.json"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string packed = gzipped(text);
  const TemporaryFile file(packed);
  const std::vector<ProfiledLaunch> launches = read(file.path());
  REQUIRE(launches.size() == 25);
  CHECK(launches[0].job.row.shape == "16,4096");
  CHECK(launches[24].job.row.kernel == read(sample("kineto_llama2-7b_decode_layer.json"))[24].job.row.kernel);
}

TEST_CASE("Kineto: damaged compressed traces are told from damaged JSON") {
  const std::string packed = gzipped(events(kernel("") + "," + kMm));
  CHECK_THAT(error_of(packed.substr(0, packed.size() / 2)), Catch::Contains("compressed data ends early"));
  CHECK_THAT(error_of(packed.substr(0, packed.size() - 2)), Catch::Contains("compressed data ends early"));
  std::string flipped = packed;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x55);
  CHECK_THAT(error_of(flipped), Catch::Contains("cannot be read") || Catch::Contains("is not JSON"));
  CHECK_THAT(error_of(gzipped("{\"traceEvents\": [\n{\"cat\":")),
             Catch::Contains(":2:") && Catch::Contains("cut short"));
  CHECK_THAT(error_of(gzipped("")), Catch::Contains("is empty"));
}

TEST_CASE("Kineto: lists that nest are no shape") {
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  const TemporaryFile file(events(kernel(R"("External id":5)") +
                                  R"(,{"cat":"cpu_op","name":"aten::mm","args":{"External id":5,"Input Dims":[)" +
                                  deep + "]}}"));
  CHECK_FALSE(read(file.path()).at(0).shape_missing.empty());
}

TEST_CASE("Kineto: a launch without a duration has none; one that no GPU starts is refused") {
  const TemporaryFile file(events(kernel("", R"("ts":1)")));
  CHECK_FALSE(read(file.path()).at(0).measured[Quantity::kDurationUs]);
  CHECK_THAT(error_of(events(kernel(R"("grid":[1,65536,1])"))),
             Catch::Contains("traceEvents[0].grid: [1,65536,1]: exp"));
  CHECK_THAT(error_of(events(kernel(R"("block":[5000,1,1])"))),
             Catch::Contains(".block: [5000,1,1]: expected 1 to 1024"));
  CHECK_THAT(error_of(events(kernel(R"("registers per thread":256)"))),
             Catch::Contains(".registers per thread: 256: expected 1 to 255"));
  CHECK_THAT(error_of(events(kernel(R"("shared memory":232449)"))),
             Catch::Contains(".shared memory: 232449: expected at most 232448 bytes"));
}

TEST_CASE("Kineto: bad files give one line with what was expected") {
  CHECK_THAT(error_of(""), Catch::Contains("is empty"));
  CHECK_THAT(error_of("case,seq,op\n"), Catch::Contains(":1:1: is not JSON"));
  CHECK_THAT(error_of("{\"traceEvents\": [\n{\"cat\":"), Catch::Contains(":2:") && Catch::Contains("cut short"));
  CHECK_THAT(error_of("{}"), Catch::Contains("no traceEvents"));
  CHECK_THAT(error_of("[1, 2]"), Catch::Contains("no traceEvents"));
  CHECK_THAT(error_of(events(kMm)), Catch::Contains("no kernels among its 1 events"));
  CHECK_THAT(error_of(events(kernel(R"("grid":[1,2])"))), Catch::Contains("traceEvents[0].grid: [1,2]"));
  CHECK_THAT(error_of(events(kernel(R"("grid":[1,2,0])"))), Catch::Contains("traceEvents[0].grid"));
  CHECK_THAT(error_of(events(kernel(R"("grid":"1x1x1")"))), Catch::Contains("traceEvents[0].grid"));
  CHECK_THAT(error_of(events(kernel(R"("registers per thread":-1)"))), Catch::Contains("registers per thread"));
  for (const char* name : {R"("name":7,)", R"("name":null,)", R"("name":"",)", ""}) {
    CHECK_THAT(error_of(events(kernel("") + ",\n" + R"({"cat":"kernel",)" + name + R"("ts":1,"dur":1,"args":{}})")),
               Catch::Contains("traceEvents[1].name: ") && Catch::Contains("is not a kernel's name"));
  }
  CHECK_THAT(error_of(events(kernel("", R"("ts":1,"dur":-3)"))), Catch::Contains("traceEvents[0].dur: -3"));
  CHECK_THAT(error_of(events(kernel("", R"("ts":1,"dur":1e308)"))),
             Catch::Contains("traceEvents[0].dur: 1e+308: expected at most 10000000000 microseconds"));
  CHECK_THAT(error_of(events(kernel("", R"("ts":1,"dur":NaN)"))), Catch::Contains("is not JSON"));
  const std::string huge = error_of(events(kernel("") + ",\n" + kernel("", R"("ts":1e999,"dur":1)")));
  CHECK_THAT(huge, Catch::Contains("traceEvents[1]: holds the number 1e999, which is out of range") &&
                       !Catch::Contains("json.exception"));
  CHECK_THROWS_WITH(open_kineto_trace("no/such.json", {}), Catch::Contains("no/such.json: cannot be opened"));
}

TEST_CASE("Kineto: an External id of two operators tells neither; broken dimensions are shown") {
  const auto missing = [](const std::string& list) {
    const TemporaryFile file(events(kernel(R"("External id":5)") + "," + kMm + "," + list));
    return read(file.path()).at(0).shape_missing;
  };
  const auto op = [](const std::string& name, const std::string& dims) {
    return R"({"cat":"cpu_op","name":")" + name + R"(","args":{"External id":5,"Input Dims":)" + dims +
           R"(,"Input type":["float","float"]}})";
  };
  CHECK(missing(kMm).empty());  // the same twice
  CHECK_THAT(missing(op("aten::add", "[[4,8],[4,8]]")),
             Catch::Contains("External id 5 is that of aten::mm (64,16,32,NN) and of aten::add (4,8)"));
  CHECK_THAT(missing(op("aten::add", "[[4,8],[4,8]]") + "," + kMm), Catch::Contains("aten::mm (64,16,32,NN)"));
  const auto broken = [&op](const std::string& dims) {
    const TemporaryFile file(events(kernel(R"("External id":5)") + "," + op("aten::mm", dims)));
    return read(file.path()).at(0).shape_missing;
  };
  CHECK(broken("\"none\"") == "Input Dims of aten::mm: \"none\" is no list with the dimensions of each argument");
  CHECK(broken("[[64,32],[\"a\",16]]") ==
        "Input Dims of aten::mm: argument 2 is [\"a\",16], no list of whole numbers such as [64,32]");
  CHECK_THAT(broken("[[64,1.5],[32,16]]"), Catch::Contains("argument 1 is [64,1.5]"));
}

TEST_CASE("Kineto: work of the GPU is a complete event, not a begin and an end") {
  const auto event = [](const char* category, const char* phase) {
    return events(std::string(R"({"ph":")") + phase + R"(","cat":")" + category +
                  R"(","name":"ampere_sgemm_64x32_nn","ts":1,"dur":2,"args":{}})");
  };
  CHECK(error_of(event("kernel", "X")).empty());
  for (const char* category : {"kernel", "gpu_memcpy", "gpu_memset"}) {
    CHECK(error_of(event(category, "B")).find(R"(traceEvents[0].ph: "B": expected "X")") != std::string::npos);
    CHECK(error_of(event(category, "E")).find(R"(traceEvents[0].ph: "E": expected "X")") != std::string::npos);
  }
}

TEST_CASE("Kineto: kernels of a device that the trace does not list, or of several, are warned of") {
  const auto warning = [](const std::string& list) {
    const TemporaryFile file(
        R"({"deviceProperties":[{"id":0,"name":"first"},{"id":1,"name":"second"}],"traceEvents":[)" + list + "]}");
    const auto reader = open_kineto_trace(file.path(), {});
    return reader->gpu().name + ": " + reader->warning().substr(std::min(reader->warning().size(), file.path().size()));
  };
  CHECK(warning(kernel("\"device\":0")) == "first: ");
  CHECK(warning(kernel("\"device\":1")) == "second: ");
  CHECK(warning(kernel("\"correlation\":1")) == "first: ");
  CHECK(warning(kernel("\"device\":99")) ==
        "first: : 1 of its kernels ran on device 99, which deviceProperties does not list");
  CHECK(warning(kernel("\"device\":0") + "," + kernel("\"device\":1") + "," + kernel("\"device\":1")) ==
        "second: : its kernels ran on 2 devices, which are added up; most on device 1");
}
