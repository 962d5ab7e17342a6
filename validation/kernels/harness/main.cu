// strata-gpu: lists, runs, checks, times and profiles the kernels of the ladder.
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "../../microbench/bench.cuh"
#include "../catalogue.hpp"
#include "csv.hpp"
#include "timing.hpp"

namespace ladder {

namespace {

const char kUsage[] =
    "usage: strata-gpu list [WORD]\n"
    "       strata-gpu run KERNEL [--key VALUE ...] [options]\n"
    "       strata-gpu suite FILE [options]      one `calibration|validation KERNEL --key VALUE ...` a line, # "
    "comments\n"
    "options: --out FILE.csv   write the measured table (default: none)\n"
    "         --only WORD      cases whose kernel contains WORD\n"
    "         --no-check       leave the reference out\n"
    "         --no-time        leave timing out\n"
    "         --profile        only one launch sequence of each case, between cudaProfilerStart and Stop: run under\n"
    "                          ncu --profile-from-start off --nvtx\n";

struct Options {
  std::vector<std::string> words;  // what is left
  std::string out, only;
  bool check = true, time = true, profile = false;
};

struct Case {
  std::string split;
  std::vector<std::string> words;  // kernel and its keys
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--out" || word == "--only") {
      require(i + 1 < argc, word + " needs a value");
      (word == "--out" ? o.out : o.only) = argv[++i];
    } else if (word == "--no-check") {
      o.check = false;
    } else if (word == "--no-time") {
      o.time = false;
    } else if (word == "--profile") {
      o.profile = true;
    } else {
      o.words.push_back(word);
    }
  }
  return o;
}

const Kernel& find(const std::string& name) {
  for (const Kernel& kernel : catalogue())
    if (kernel.name == name) return kernel;
  throw Refusal("no kernel is called '" + name + "'; strata-gpu list shows all");
}

int list(const std::string& word) {
  for (const Kernel& kernel : catalogue()) {
    if (kernel.name.find(word) == std::string::npos) continue;
    std::printf("%s\n    %s\n    ", kernel.name.c_str(), kernel.teaches.c_str());
    for (const Key& key : kernel.keys)
      std::printf("--%s (%g): %s  ", key.name.c_str(), key.fallback, key.meaning.c_str());
    std::printf("\n");
  }
  return 0;
}

std::vector<Case> read_suite(const std::string& path) {
  std::ifstream file(path);
  require(file.good(), path + ": cannot be read");
  std::vector<Case> cases;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Case one;
    if (!(words >> one.split)) continue;
    require(one.split == "calibration" || one.split == "validation",
            path + ":" + std::to_string(number) + ": '" + one.split + "' is neither calibration nor validation");
    for (std::string word; words >> word;) one.words.push_back(word);
    require(!one.words.empty(), path + ":" + std::to_string(number) + ": no kernel");
    cases.push_back(one);
  }
  return cases;
}

/// The kernel and its keys in one word: strata_gemm_..._tn_m4096_n4096_k4096.
std::string case_name(const Case& one) {
  std::string name = one.words.front();
  for (std::size_t i = 1; i + 1 < one.words.size(); i += 2) {
    const std::string& key = one.words[i];
    name += "_" + (key.rfind("--", 0) == 0 ? key.substr(2) : key) + one.words[i + 1];
  }
  return name;
}

/// One line now rather than an error of the runtime from the middle of a case.
void require_gpu() {
  int count = 0;
  require(cudaGetDeviceCount(&count) == cudaSuccess && count > 0, "no CUDA device answers");
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  require(device.major == 9, std::string("built for compute capability 9.0; device 0 is ") + device.name + " (" +
                                 std::to_string(device.major) + "." + std::to_string(device.minor) + ")");
}

void profile(const std::string& name, const Problem& problem) {
  if (problem.reset) problem.reset(nullptr);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStart());
  nvtxRangePushA(name.c_str());
  problem.plan.run(nullptr);
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
  CHECK(cudaProfilerStop());
}

void print(const std::string& name, const Problem& problem, const Row& row) {
  std::printf("%s  %-72s", row.verdict.passed ? "ok  " : "FAIL", name.c_str());
  std::printf(" error %8.2g of %7.2g", row.verdict.worst, row.verdict.allowed);
  if (row.event_median_us > 0)
    std::printf("  %9.2f us %7.1f TFLOP/s %6.0f GB/s", row.event_median_us, problem.flops / row.event_median_us * 1e-6,
                problem.bytes / row.event_median_us * 1e-3);
  if (row.vendor_median_us > 0)
    std::printf("  vendor %9.2f us, %5.1f %% of it", row.vendor_median_us,
                100 * row.vendor_median_us / row.event_median_us);
  std::printf("%s%s\n", row.verdict.failure.empty() ? "" : "  ", row.verdict.failure.c_str());
  std::fflush(stdout);
}

/// @return whether the case is right.
bool run_case(const Case& one, const Options& o, std::FILE* table) {
  const Kernel& kernel = find(one.words.front());
  const Shape shape(kernel.keys, {one.words.begin() + 1, one.words.end()});
  Problem problem = kernel.make(shape);
  Row row;
  row.case_name = case_name(one);
  row.split = one.split;
  if (o.profile) {
    profile(row.case_name, problem);
  } else {
    if (o.check) row.verdict = check(problem);
    if (o.time) {
      row.event_median_us = median_us(problem.reset, [&](cudaStream_t s) { problem.plan.run(s); });
      if (problem.vendor) row.vendor_median_us = median_us({}, problem.vendor);
    }
    print(row.case_name, problem, row);
  }
  if (table != nullptr) write_rows(table, kernel, problem, row);
  return row.verdict.passed;
}

int run_all(const std::vector<Case>& cases, const Options& o) {
  const auto wanted = [&o](const Case& one) { return one.words.front().find(o.only) != std::string::npos; };
  require(std::any_of(cases.begin(), cases.end(), wanted),
          o.only.empty() ? "the suite has no case" : "no case's kernel contains '" + o.only + "'");
  require_gpu();
  std::FILE* table = nullptr;
  if (!o.out.empty()) {
    table = std::fopen(o.out.c_str(), "w");
    require(table != nullptr, o.out + ": cannot be written");
    write_header(table);
  }
  int wrong = 0, refused = 0, done = 0;
  for (const Case& one : cases) {
    if (!wanted(one)) continue;
    try {
      wrong += run_case(one, o, table) ? 0 : 1;
      ++done;
    } catch (const Refusal& reason) {
      std::fprintf(stderr, "refused: %s: %s\n", case_name(one).c_str(), reason.what());
      ++refused;
    }
  }
  if (table != nullptr) require(std::fclose(table) == 0, o.out + ": cannot be written whole");
  std::printf("%d cases run, %d wrong, %d refused\n", done, wrong, refused);
  if (refused != 0) return 2;
  return wrong == 0 ? 0 : 1;
}

int command(const Options& o) {
  const std::string verb = o.words.empty() ? "" : o.words.front();
  const std::size_t most = verb == "run" ? o.words.size() : 2;  // a run's words are its kernel's keys
  require(o.words.size() <= most, o.words.size() <= most ? "" : "unexpected argument '" + o.words[most] + "'");
  if (verb == "list") return list(o.words.size() > 1 ? o.words[1] : "");
  require((verb == "run" || verb == "suite") && o.words.size() > 1, kUsage);
  if (verb == "suite") return run_all(read_suite(o.words[1]), o);
  return run_all({{"", {o.words.begin() + 1, o.words.end()}}}, o);
}

}  // namespace

}  // namespace ladder

int main(int argc, char** argv) {
  try {
    return ladder::command(ladder::parse(argc, argv));
  } catch (const ladder::Refusal& reason) {
    std::fprintf(stderr, "strata-gpu: %s\n", reason.what());
    return 2;
  }
}
