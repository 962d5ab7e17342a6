/// A folder of microbenchmark results that a test writes down; gone at its end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace strata::test {

class MeasuredRun {
 public:
  explicit MeasuredRun(const std::string& name)
      : root_(std::filesystem::temp_directory_path() / (name + "." + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~MeasuredRun() { std::filesystem::remove_all(root_); }
  MeasuredRun(const MeasuredRun&) = delete;
  MeasuredRun& operator=(const MeasuredRun&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  /// The facts of an H100 SXM5, with another number of SMs where one is given.
  void write_origin(const std::string& folder = {}, int sms = 132) const {
    write(folder + (folder.empty() ? "" : "/") + "origin.json",
          "{\"gpu\": \"NVIDIA H100 80GB HBM3\", \"sms\": " + std::to_string(sms) +
              ", \"l2_bytes\": 52428800, \"max_sm_clock_mhz\": 1980, \"memory_clock_mhz\": 2619, "
              "\"date_utc\": \"2026-11-28\"}");
  }
  static std::string header() { return "bench,series,x,x_unit,value,unit,min,max,reps,sm_clock_mhz\n"; }
  [[nodiscard]] std::string path() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

}  // namespace strata::test
