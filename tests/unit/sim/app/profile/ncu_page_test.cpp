#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/app/profile/launch_reader.hpp"
#include "sim/base/error.hpp"
#include "tests/support/temporary_file.hpp"

using namespace strata;
using namespace strata::app;
using strata::test::TemporaryFile;

namespace {

constexpr const char* kHeader =
    "\"ID\",\"Process ID\",\"Process Name\",\"thread "
    "Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\""
    ",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"launch__shared_mem_per_block_dynamic\",\"gpu__time_duration.sum\","
    "\"dram__bytes_read.sum\"\n";
constexpr const char* kUnits = "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte/block\",\"ns\",\"byte\"\n";

std::string row(const std::string& range, const std::string& tail, const std::string& process = "7") {
  static int id = 0;
  return "\"" + std::to_string(id++) + "\",\"" + process + "\",\"app\",\"" + range +
         "\",\"k\",\"(128, 1, 1)\",\"(4, 2, 1)\"," + tail + "\n";
}

std::string range(const std::string& label) {
  return "594  \"\"<default domain>:" + label + ":none:none:none:none:none:none\"\" ";
}

std::vector<ProfiledLaunch> read_file(const std::string& path) {
  const auto reader = open_ncu_page(path);
  std::vector<ProfiledLaunch> launches;
  ProfiledLaunch launch;
  while (reader->next(launch)) {
    launches.push_back(launch);
  }
  return launches;
}

std::vector<ProfiledLaunch> read(const std::string& text) {
  const TemporaryFile file(text);
  return read_file(file.path());
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

constexpr const char* kTail = "\"1,024\",\"15,680\",\"9,459,712\"";

}  // namespace

TEST_CASE("ncu page: a recorded page gives launches, shapes and counters") {
  const auto launches =
      read_file(std::string(STRATA_SOURCE_DIR) + "/validation/data/h100-sxm5-80gb/profiles/ncu_raw.csv");
  REQUIRE(launches.size() == 7);
  const LaunchRow& first = launches[0].job.row;
  CHECK(first.kernel == "nvjet_sm90_hsh_128x256_64x4_2x1_v_bz_coopA_TNN");
  CHECK(first.op == "gemm");
  CHECK(first.dtype == "fp16");
  CHECK(first.shape == "2048,2048,2048,TN");
  CHECK(first.grid == Dim3{2, 64, 1});
  CHECK(first.block == Dim3{384, 1, 1});
  CHECK(first.cluster == Dim3{2, 1, 1});
  CHECK(first.registers == 168U);
  CHECK(first.smem_dynamic == 213188U);
  CHECK(launches[0].measured[Quantity::kDurationUs] == Approx(26.656));
  CHECK(launches[0].measured[Quantity::kSmCycles] == 45094);
  CHECK(launches[0].measured[Quantity::kDramReadBytes] == 16798464);
  CHECK(launches[2].job.row.cluster == Dim3{1, 1, 1});  // printed as 0, 0, 0
  const LaunchRow& sum = launches[6].job.row;
  CHECK(sum.case_name == "gemm_bf16_TN_2x4096x11008");
  CHECK(sum.seq == "2");
  CHECK(sum.producer_kernel == launches[5].job.row.kernel);
}

TEST_CASE("ncu page: numbers are in the printed unit, whatever it is") {
  const std::string page = std::string(kHeader) +
                           "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Kbyte/block\",\"usecond\",\"Mbyte\"\n" +
                           row("", "\"16.38\",\"15.68\",\"9.46\"");
  const ProfiledLaunch launch = read(page).at(0);
  CHECK(launch.job.row.smem_dynamic == 16380U);
  CHECK(launch.measured[Quantity::kDurationUs] == Approx(15.68));
  CHECK(launch.measured[Quantity::kDramReadBytes] == Approx(9.46e6));
  CHECK_THAT(error_of(std::string(kHeader) + "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte/block\",\"parsec\",\"byte\"\n" +
                      row("", kTail)),
             Catch::Contains(":3: gpu__time_duration.sum: unit 'parsec'"));
}

TEST_CASE("ncu page: a unit that is unknown, a time of zero and dimensions that do not close are refused") {
  const auto page = [](const std::string& unit, const std::string& tail) {
    return std::string(kHeader) + "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte/block\",\"ns\",\"" + unit + "\"\n" +
           row("", tail);
  };
  CHECK(read(page("KiB", kTail)).at(0).measured[Quantity::kDramReadBytes] == 9459712 * 1024.0);
  CHECK_THAT(error_of(page("parsec", kTail)), Catch::Contains(":3: dram__bytes_read.sum: unit 'parsec'"));
  CHECK_THAT(error_of(page("sector", kTail)), Catch::Contains(":3: dram__bytes_read.sum: unit 'sector'"));
  CHECK_THAT(error_of(page("byte", "\"1,024\",\"0\",\"1\"")), Catch::Contains(":3: gpu__time_duration.sum: '0'"));
  std::string open = page("byte", kTail);
  open.replace(open.find("(4, 2, 1)"), 9, "((4,2,1");
  CHECK_THAT(error_of(open), Catch::Contains(":3: Grid Size: '((4,2,1'"));
}

TEST_CASE("ncu page: other output and several processes in one file") {
  const std::string pages = std::string("==PROF== Connected to process 7\nepoch 1\n") + kHeader + kUnits +
                            row(range("add_bf16_4x8"), kTail) + "==PROF== Disconnected from process 7\n" + kHeader +
                            kUnits + row(range("add_bf16_4x8"), kTail, "8") + row(range("add_bf16_4x8"), kTail, "7") +
                            "==PROF== Disconnected from process 8\n";
  const auto launches = read(pages);
  REQUIRE(launches.size() == 3);
  CHECK(launches[0].job.row.seq == "1");
  CHECK(launches[1].job.row.seq == "1");
  CHECK(launches[2].job.row.seq == "2");
  const std::string other = std::string(kHeader) + kUnits + row("", kTail) +
                            "ID,Process ID,Process Name,Other,Kernel Name,Block Size,Grid Size,a,b,c\n";
  CHECK_THAT(error_of(other), Catch::Contains(":4: is a header with other columns"));
}

TEST_CASE("ncu page: the innermost range that tells a shape counts; columns op,dtype,shape count first") {
  const auto launches = read(std::string(kHeader) + kUnits +
                             row(range("layer 1") + range("aten::add, op_id = 1, sizes = [[4, 8]]"), kTail) +
                             row(range("gemm bf16 64,64,64,TN") + range("inner"), kTail) + row(range("step"), kTail));
  CHECK(launches[0].job.row.op == "add");
  CHECK(launches[0].job.row.shape == "4,8");
  CHECK(launches[1].job.row.shape == "64,64,64,TN");
  CHECK(launches[1].shape_missing.empty());
  CHECK(launches[2].job.row.shape.empty());
  CHECK_THAT(launches[2].shape_missing, Catch::Contains("NVTX range"));
  const ProfiledLaunch given = read(
                                   "ID,Kernel Name,Block Size,Grid Size,op,dtype,shape\n,,,,,,\n"
                                   "1,k,\"(1, 1, 1)\",\"(1, 1, 1)\",add,bf16,\"3,5\"\n")
                                   .at(0);
  CHECK(given.job.row.shape == "3,5");
  CHECK(given.shape_missing.empty());
}

TEST_CASE("ncu page: a comma separates thousands and nothing else") {
  const auto read_us = [](const std::string& ns) {
    return *read(std::string(kHeader) + kUnits + row("", "\"1\",\"" + ns + "\",\"1\""))
                .at(0)
                .measured[Quantity::kDurationUs];
  };
  CHECK(read_us("12,345,678.5") == Approx(12345.6785));
  CHECK(read_us("656") == Approx(0.656));
  CHECK(read_us("0.5") == Approx(0.0005));
  for (const char* number : {"26,65", "26.656,5", "0,656", "1,2345", "1234,567", ",656", "26,", "1,,000"}) {
    CAPTURE(number);
    CHECK_THAT(error_of(std::string(kHeader) + kUnits + row("", "\"1\",\"" + std::string(number) + "\",\"1\"")),
               Catch::Contains(":3: gpu__time_duration.sum: '" + std::string(number) + "': expected commas between"));
  }
}

TEST_CASE("ncu page: launches without a name or that no GPU starts are refused") {
  const auto launch = [](const std::string& name, const std::string& block, const std::string& grid,
                         const std::string& rest = ",,,,,") {
    return error_of(
        "ID,Kernel Name,Block Size,Grid Size,launch__cluster_dim_x,launch__cluster_dim_y,launch__cluster_dim_z,"
        "launch__registers_per_thread,launch__shared_mem_per_block_dynamic,launch__shared_mem_per_block_static\n"
        ",,,,,,,,byte/block,byte/block\n1," +
        name + ",\"" + block + "\",\"" + grid + "\"," + rest + "\n");
  };
  CHECK(launch("k", "(128, 1, 1)", "(4, 1, 1)").empty());
  CHECK_THAT(launch("", "(128, 1, 1)", "(4, 1, 1)"), Catch::Contains(":3: Kernel Name: is empty; expected a kernel's"));
  CHECK_THAT(launch("k", "(128, 1, 1)", "(0, 1, 1)"), Catch::Contains(":3: Grid Size: '(0, 1, 1)': expected 1 to"));
  CHECK_THAT(launch("k", "(5000, 1, 1)", "(4, 1, 1)"),
             Catch::Contains(":3: Block Size: '(5000, 1, 1)': expected 1 to 1024 threads"));
  CHECK_THAT(launch("k", "(-128, 1, 1)", "(4, 1, 1)"), Catch::Contains("is not three dimensions"));
  CHECK_THAT(launch("k", "(128, 1, 1, 1)", "(4, 1, 1)"), Catch::Contains("is not three dimensions"));
  CHECK(launch("k", "(128, 1, 1)", "(4, 1, 1)", "0,0,0,,,").empty());
  CHECK_THAT(launch("k", "(128, 1, 1)", "(4, 1, 1)", "99,1,1,,,"),
             Catch::Contains(":3: launch__cluster_dim_x: '99': expected at most 16 CTAs"));
  CHECK_THAT(launch("k", "(128, 1, 1)", "(4, 1, 1)", "3,1,1,,,"), Catch::Contains("divide the grid's, 4x1x1"));
  CHECK_THAT(launch("k", "(128, 1, 1)", "(4, 1, 1)", ",,,256,,"),
             Catch::Contains(":3: launch__registers_per_thread: '256': expected 1 to 255"));
  CHECK_THAT(launch("k", "(128, 1, 1)", "(4, 1, 1)", ",,,,100.5,"),
             Catch::Contains(":3: launch__shared_mem_per_block_dynamic: '100.5' byte/block: expected a whole number"));
  CHECK_THAT(launch("k", "(128, 1, 1)", "(4, 1, 1)", ",,,,232449,"), Catch::Contains("'232449': expected at most"));
}

TEST_CASE("ncu page: the most shared memory that a CTA may have is no more for being printed in Kbyte") {
  const std::string page = std::string(kHeader) +
                           "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Kbyte/block\",\"usecond\",\"Mbyte\"\n" +
                           row("", "\"232.45\",\"15.68\",\"9.46\"");
  CHECK(read(page).at(0).job.row.smem_dynamic == 232448U);
}

TEST_CASE("ncu page: bad files give one line with file, line, column and what was expected") {
  CHECK_THAT(error_of("a,b\n1,2\n"), Catch::Contains("has no header: no line begins with ID"));
  CHECK_THAT(error_of("{\"traceEvents\": []}"), Catch::Contains("has no header"));
  CHECK_THAT(error_of("\"ID\",\"Kernel Name\"\n"), Catch::Contains("'Block Size', 'Grid Size'"));
  CHECK_THAT(error_of("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n"), Catch::Contains("details page"));
  CHECK_THAT(error_of(kHeader), Catch::Contains("no row of units"));
  CHECK_THAT(error_of(std::string(kHeader) + kUnits), Catch::Contains("no launches"));
  CHECK_THAT(error_of(std::string(kHeader) + row("", kTail)),
             Catch::Contains(":2: is a launch; expected the row of units"));
  CHECK_THAT(error_of(std::string(kHeader) + kUnits + row("", "\"1\",\"nan\",\"1\"")),
             Catch::Contains(":3: gpu__time_duration.sum: 'nan' is not a number"));
  CHECK_THAT(error_of(std::string(kHeader) + kUnits + row("", "\"1\",\"2x\",\"1\"")), Catch::Contains("'2x'"));
  CHECK_THAT(error_of(std::string(kHeader) + kUnits + row("", "\"1\",\"1e300\",\"1\"")),
             Catch::Contains(":3: gpu__time_duration.sum: '1e300': expected at most 1e+10 us"));
  CHECK_THAT(error_of(std::string(kHeader) + kUnits + row("", "\"99,999,999,999\",\"2\",\"1\"")),
             Catch::Contains("above 2^32"));
  CHECK_THAT(error_of(std::string(kHeader) + kUnits + "\"1\",\"7\"\n"), Catch::Contains(":3: has 2 cells"));
  const std::string no_grid = std::string("ID,Kernel Name,Block Size,Grid Size\n,,,\n1,k,\"(1, 1)\",\"(1, 1, 1)\"\n");
  CHECK_THAT(error_of(no_grid), Catch::Contains(":3: Block Size: '(1, 1)' is not three dimensions"));
}

TEST_CASE("ncu page: a row without a number of its own is named with its line") {
  const auto page = [](const std::string& first, const std::string& second) {
    const std::string rest = "\",\"7\",\"app\",\"\",\"k\",\"(128, 1, 1)\",\"(4, 2, 1)\"," + std::string(kTail) + "\n";
    return std::string(kHeader) + kUnits + "\"" + first + rest + "\"" + second + rest;
  };
  CHECK(error_of(page("0", "1")).empty());
  CHECK(error_of(page("999", "1,000")).empty());
  CHECK(error_of(page("0", "0")).find(":4: ID: '0' stands on line 3 too") != std::string::npos);
  for (const char* id : {"", "x", "-1", "1.5", "1e3"}) {
    INFO(id);
    CHECK(error_of(page("0", id)).find(std::string(":4: ID: '") + id + "': expected the launch's number") !=
          std::string::npos);
  }
  CHECK(error_of(page("0", "1") + kHeader + kUnits +
                 page("0", "1").substr(std::string(kHeader).size() + std::string(kUnits).size()))
            .empty());  // another process's page
}

TEST_CASE("ncu page: the dimension of a cluster that cannot be is named") {
  const auto error = [](const std::string& x, const std::string& y, const std::string& z) {
    return error_of(
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
        "Size\",\"launch__cluster_dim_x\",\"launch__cluster_dim_y\",\"launch__cluster_dim_z\"\n"
        "\"\",\"\",\"\",\"\",\"\",\"\",\"\"\n\"0\",\"k\",\"(128, 1, 1)\",\"(16, 16, 16)\",\"" +
        x + "\",\"" + y + "\",\"" + z + "\"\n");
  };
  CHECK(error("2", "1", "1").empty());
  CHECK(error("3", "1", "1").find(":3: launch__cluster_dim_x: '3': expected dimensions that divide") !=
        std::string::npos);
  CHECK(error("2", "3", "1").find(":3: launch__cluster_dim_y: '3'") != std::string::npos);
  CHECK(error("2", "1", "17").find(":3: launch__cluster_dim_z: '17': expected at most 16") != std::string::npos);
  CHECK(error("4", "4", "4").find("launch__cluster_dim_x, _y and _z: '4x4x4'") != std::string::npos);
}
