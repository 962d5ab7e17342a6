#include "sim/app/launch_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <span>
#include <string_view>

#include "sim/app/prediction_csv.hpp"
#include "sim/base/error.hpp"

using namespace strata;
using namespace strata::app;

namespace {

constexpr const char* kHeader =
    "case,seq,op,dtype,shape,kernel,grid_dim,block_dim,cluster_dim,regs,smem_dyn,smem_static,sm_clock_mhz,sm_cycles\n";

struct TemporaryTable {
  std::string path = "launch_table_test." + std::to_string(getpid()) + ".csv";
  explicit TemporaryTable(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  ~TemporaryTable() { std::remove(path.c_str()); }
  TemporaryTable(const TemporaryTable&) = delete;
  TemporaryTable& operator=(const TemporaryTable&) = delete;
};

void expect_error(const std::string& row, const std::string& text) {
  const TemporaryTable file(kHeader + row);
  LaunchTable table(file.path);
  LaunchJob job;
  CHECK_THROWS_WITH(table.next(job), Catch::Contains(text));
}

}  // namespace

TEST_CASE("launch table: seq and clock have to be numbers that can be") {
  expect_error("g,x,gemm,bf16,\"64,64,64,TN\",k,,,,,,,,\n", ":2: seq: 'x'");
  expect_error("g,2.5,gemm,bf16,\"64,64,64,TN\",k,,,,,,,,\n", ":2: seq: '2.5': expected a whole number");
  expect_error("g,1,gemm,bf16,\"64,64,64,TN\",k,,,,,,,0,\n", ":2: sm_clock_mhz: '0': expected 1 to 10000 MHz");
  expect_error("g,1,gemm,bf16,\"64,64,64,TN\",k,,,,,,,10001,\n", ":2: sm_clock_mhz: '10001': expected 1 to 10000 MHz");
  const TemporaryTable file(std::string(kHeader) + "g,,gemm,bf16,\"64,64,64,TN\",k,,,,,,,,\n");
  LaunchTable table(file.path);
  LaunchJob job;
  CHECK(table.next(job));  // a seq that is not known is none
}

TEST_CASE("launch table: a cell that is no value at all is refused") {
  expect_error("g,1,gemm,bf17,\"64,64,64,TN\",k,,,,,,,,\n", ":2: dtype: 'bf17' is not a data type");
  expect_error("g,1,gemm,bf16,\"64,,64,TN\",k,,,,,,,,\n", ":2: shape: '64,,64,TN': expected [batch,]M,N,K,layout");
  expect_error("g,1,gemm,bf16,\"64,64,6e4,TN\",k,,,,,,,,\n", "a whole number as cell 3, found '6e4'");
  expect_error("g,1,gemm,bf16,\"64,64,64,TX\",k,,,,,,,,\n", "NN, NT, TN or TT as cell 4, found 'TX'");
  expect_error("g,1,attention,bf16,\"1,2,2,64,64,64,2\",k,,,,,,,,\n", "0 or 1 as cell 7, found '2'");
  expect_error("g,1,silu,bf16,\"64,x\",k,,,,,,,,\n", "rows,cols with a whole number as cell 2, found 'x'");
  // Values that no kernel has, and shapes of a form that is not known, are their rows' matter.
  for (const char* cells : {"gemm,int64,\"64,0,64,NN\"", "gemm,bf16,\"64,64,64,\"", "gemm,bf16,\"64,64,TN\"",
                            "gemm_grouped,bf16,\"64,64,64,TN,8\"", "attention,bf16,\"1,2,2,64,64,64,full,mine\"",
                            "softmax,,M=64;N=64", "add,bf16,"}) {
    INFO(cells);
    const TemporaryTable file(std::string(kHeader) + "g,1," + cells + ",k,,,,,,,,\n");
    LaunchTable table(file.path);
    LaunchJob job;
    CHECK(table.next(job));
  }
}

TEST_CASE("launch table: dimensions may be written as a tuple") {
  const TemporaryTable file(std::string(kHeader) +
                            "g,1,gemm,bf16,\"64,64,64,TN\",k,\"(2, 64, 1)\",\"(128,1,1)\",,,,,,\n");
  LaunchTable table(file.path);
  LaunchJob job;
  REQUIRE(table.next(job));
  CHECK(job.row.grid == Dim3{2, 64, 1});
  CHECK(job.row.block == Dim3{128, 1, 1});
  for (const char* grid : {"\"(2, 64)\"", "\"(2, 64, 1\"", "(2x64x1)", "\"2,64,1\""}) {
    expect_error(std::string("g,1,gemm,bf16,\"64,64,64,TN\",k,") + grid + ",,,,,,,\n", ":2: grid_dim: ");
  }
}

TEST_CASE("launch table: a product learns that the next launch adds up its parts") {
  const std::string cells = ",gemm,bf16,\"64,64,4096,TN\",";
  const std::string sum = "\"void splitKreduce_kernel<32, 16, int, float, float>()\",,,,,,,,\n";
  const TemporaryTable file(kHeader + ("a,0" + cells + "k,,,,,,,,\n") + "a,1" + cells + sum + "b,0" + cells +
                            "k,,,,,,,,\n" + "c,1" + cells + sum);
  LaunchTable table(file.path);
  LaunchJob job;
  for (const auto& [name, summed] : {std::pair{"a", true}, {"a", false}, {"b", false}, {"c", false}}) {
    REQUIRE(table.next(job));
    CHECK(job.row.case_name == name);
    CHECK(table.record().cells[0] == name);
    CHECK(job.row.parts_are_summed == summed);
  }
  CHECK_FALSE(table.next(job));
}

TEST_CASE("launch table: a name beyond any kernel's is refused, and the message does not repeat it") {
  const TemporaryTable file(kHeader + std::string("g,1,gemm,bf16,\"64,64,64,TN\",") + std::string(70000, 'k') +
                            ",,,,,,,,\n");
  LaunchTable table(file.path);
  LaunchJob job;
  try {
    static_cast<void>(table.next(job));
    FAIL("read");
  } catch (const InputError& e) {
    const std::string text = e.what();
    CHECK(text.find(":2: kernel: 'kkk") != std::string::npos);
    CHECK(text.ends_with("expected at most 65536 bytes, found 70000"));
    CHECK(text.size() < 1000);
  }
}

TEST_CASE("launch table: reads what is known and leaves the rest empty") {
  const TemporaryTable file(std::string(kHeader) +
                            "g,1,gemm,bf16,\"64,64,64,TN\",nvjet,2x66x1,384x1x1,0x0x0,168,1024,0,1700.5,99\n"
                            "e,2,add,bf16,\"4,4\",k,,,,,,,,\n");
  LaunchTable table(file.path);
  LaunchJob job;
  REQUIRE(table.next(job));
  CHECK(job.row.shape == "64,64,64,TN");
  CHECK(job.row.grid == Dim3{2, 66, 1});
  CHECK(job.row.cluster == Dim3{1, 1, 1});
  CHECK(job.row.registers == 168U);
  CHECK(job.sm_clock_mhz == 1700.5);
  REQUIRE(table.next(job));
  CHECK_FALSE(job.row.grid);
  CHECK_FALSE(job.row.registers);
  CHECK(job.sm_clock_mhz == 0);
  CHECK_FALSE(table.next(job));
}

TEST_CASE("launch table: sums of splits know the launch before them, of the same case only") {
  const std::string sum = "void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)";
  const TemporaryTable file(std::string(kHeader) + "g,1,gemm,bf16,s,nvjet,2x64x1,,,,,,,\n" + "g,2,gemm,bf16,s,\"" +
                            sum + "\",,,,,,,,\n" + "g,3,gemm,bf16,s,nvjet,,,,,,,,\n" + "h,1,gemm,bf16,s,\"" + sum +
                            "\",,,,,,,,\n");
  LaunchTable table(file.path);
  LaunchJob job;
  REQUIRE(table.next(job));
  REQUIRE(table.next(job));
  CHECK(job.row.producer_kernel == "nvjet");
  CHECK(job.row.producer_grid == Dim3{2, 64, 1});
  REQUIRE(table.next(job));
  CHECK(job.row.producer_kernel.empty());
  REQUIRE(table.next(job));
  CHECK(job.row.producer_kernel.empty());
}

TEST_CASE("launch table: a cell that cannot be read is named with file, line and column") {
  expect_error("g,1,gemm,bf16,s,k,2x66,,,,,,,\n", "2: grid_dim: '2x66': expected three dimensions");
  expect_error("g,1,gemm,bf16,s,k,,,,1.5,,,,\n", "2: regs: '1.5': expected a whole number from 1 to 255");
  expect_error("g,1,gemm,bf16,s,k,,,,,,,NaN,\n", "2: sm_clock_mhz: 'NaN' is not a number");
}

TEST_CASE("launch table: what no GPU launches is a mistake of the file") {
  const auto row = [](const std::string& cells) { return "g,1,gemm,bf16,s,k," + cells + ",\n"; };
  expect_error(row("0x1x1,,,,,,"), "2: grid_dim: '0x1x1': expected 1 to 2147483647");
  expect_error(row("1x65536x1,,,,,,"), "2: grid_dim: '1x65536x1'");
  expect_error(row("-1x1x1,,,,,,"), "2: grid_dim: '-1x1x1'");
  expect_error(row(",2048x1x1,,,,,"), "2: block_dim: '2048x1x1': expected 1 to 1024 threads");
  expect_error(row(",64x32x1,,,,,"), "2: block_dim: '64x32x1'");
  expect_error(row(",1x1x65,,,,,"), "2: block_dim: '1x1x65'");
  expect_error(row(",,17x1x1,,,,"), "2: cluster_dim: '17x1x1': expected at most 16 CTAs");
  expect_error(row(",,0x1x1,,,,"), "2: cluster_dim: '0x1x1'");
  expect_error(row("3x1x1,,2x1x1,,,,"), "2: cluster_dim: '2x1x1': expected dimensions that divide the grid's, 3x1x1");
  expect_error(row(",,,0,,,"), "2: regs: '0': expected a whole number from 1 to 255");
  expect_error(row(",,,256,,,"), "2: regs: '256'");
  expect_error(row(",,,-1,,,"), "2: regs: '-1'");
  expect_error(row(",,,many,,,"), "2: regs: 'many'");
  expect_error(row(",,,,232449,,"), "2: smem_dyn: '232449': expected a whole number from 0 to 232448");
  expect_error(row(",,,,,1e30,"), "2: smem_static: '1e30'");
}

TEST_CASE("launch table: a needed column that is missing is an error") {
  const TemporaryTable file("case,seq,op,dtype,shape\n");
  CHECK_THROWS_WITH(LaunchTable(file.path), Catch::Contains("lacks the column 'kernel'"));
  const TemporaryTable capitals("case,seq,op,dtype,shape,KERNEL\n");
  CHECK_THROWS_WITH(LaunchTable(capitals.path), Catch::Contains("'kernel' (has 'KERNEL': names are in lower case)"));
  const TemporaryTable letters("case,seq,op,dtype,shap,kernle\n");
  CHECK_THROWS_WITH(LaunchTable(letters.path), Catch::Contains("'shape' (has 'shap'), 'kernel' (has 'kernle')"));
  const TemporaryTable semicolons("case;seq;op;dtype;shape;kernel\n");
  CHECK_THROWS_WITH(LaunchTable(semicolons.path), Catch::Contains("separated by semicolons; expected commas"));
}

TEST_CASE("predicted.csv: the columns are those of the contract, in its order") {
  CHECK(prediction_csv_header().rfind(
            "case,seq,status,reason,sm_cycles,duration_us,dram_read_bytes,dram_write_bytes,lts_sectors,"
            "lts_from_sm_sectors,lts_from_sm_hit_sectors,lts_fabric_sectors,xbar2l1_read_sectors,"
            "l12xbar_write_sectors,smem_wavefronts,warp_insts,tensor_insts,bottleneck,sim_seconds",
            0) == 0);
  Prediction unsupported;
  unsupported.reason = "a, b";
  CHECK(prediction_csv_row("c", "1", unsupported).rfind("c,1,unsupported,\"a, b\",,,,,,,,,,,,,,,0.000", 0) == 0);
}

TEST_CASE("launch table: a column that is nearly one that the file lacks is named; any other is left alone") {
  const auto columns = [](const std::string& optional) {
    const TemporaryTable file("case,seq,op,dtype,shape,kernel," + optional + "\n");
    return LaunchTable(file.path).misspelt_columns();
  };
  CHECK(columns("grid_xx") == "column 'grid_xx' is not read; did you mean 'grid_dim'?");
  CHECK(columns("smem_dym,reg") ==
        "column 'smem_dym' is not read; did you mean 'smem_dyn'?; column 'reg' is not read; did you mean 'regs'?");
  CHECK(columns("block") == "column 'block' is not read; did you mean 'block_dim'?");
  CHECK(columns("block,block_dim").empty());  // as in recorded files
  CHECK(columns("measured_us,dram_bytes,method,split,sm_cycles,bacth").empty());
}

TEST_CASE("launch table: a misspelt column is found whatever its capitals, and among very many") {
  const auto columns = [](const std::string& more, std::span<const std::string_view> also_read = {}) {
    const TemporaryTable file("case,seq,op,dtype,shape,kernel," + more + "\n");
    return LaunchTable(file.path).misspelt_columns(also_read);
  };
  CHECK(columns("GRID_DIM") == "column 'GRID_DIM' is not read; did you mean 'grid_dim'?");
  static constexpr std::array<std::string_view, 1> kMeasured{"sm_cycles"};
  CHECK(columns("sm_cycle", kMeasured) == "column 'sm_cycle' is not read; did you mean 'sm_cycles'?");
  CHECK(columns("sm_cycle").empty());
  std::string many;
  for (int i = 0; i < 100000; ++i) many += fmt::format("{}c{}", i == 0 ? "" : ",", i);
  CHECK(columns(many).empty());  // in milliseconds: the time of a search for each of them would be noticed
  CHECK(columns("grid_di1,grid_di2,grid_di3,grid_di4,grid_di5,grid_di6,grid_di7").ends_with("; 2 more likewise"));
}

TEST_CASE("launch table: cells that are spelt otherwise are the same launch's; others are named") {
  const auto sum_of = [](const std::string& product, const std::string& sum) {
    const TemporaryTable file(kHeader + product + ",nvjet,2x64x1,,,,,,,\n" + sum +
                              ",\"splitKreduce_kernel<32, 16, int, float>\",,,,,,,,\n");
    LaunchTable table(file.path);
    LaunchJob job;
    REQUIRE(table.next(job));
    REQUIRE(table.next(job));
    CHECK(job.row.producer_kernel.empty() == !job.row.producer_differs.empty());
    return job.row.producer_differs;
  };
  CHECK(sum_of("g,1,gemm,bf16,\"1, 64,64,64,tn\"", "g,2,gemm,BF16,\"64,64,64\"").empty());
  CHECK(sum_of("g,1,gemm,bfloat16,\"64,64,64,TN\"", "g,2,gemm,bf16,\"64, 64,64 ,TN\"").empty());
  const std::string sum = "g,2,gemm,bf16,\"64,64,64,TN\"";
  CHECK(sum_of("g,1,gemm,fp16,\"64,64,64,TN\"", sum) == "dtype is 'fp16' there and 'bf16' here");
  CHECK(sum_of("g,1,gemm,bf16,\"64,64,64,NN\"", sum) == "shape is '64,64,64,NN' there and '64,64,64,TN' here");
  CHECK(sum_of("f,1,gemm,bf16,\"64,64,64,TN\"", sum) == "case is 'f' there and 'g' here");
  CHECK(sum_of("g,0,gemm,bf16,\"64,64,64,TN\"", sum) == "seq is '0' there and '2' here, expected the next number");
}
