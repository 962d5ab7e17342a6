#include "sim/app/profile/launch_reader.hpp"

#include <fmt/format.h>

namespace strata::app {

namespace {

class TableReader final : public LaunchReader {
 public:
  explicit TableReader(const std::string& path) : path_(path), table_(std::make_unique<LaunchTable>(path)) {}

  bool next(ProfiledLaunch& launch) override {
    launch.measured = {};
    launch.shape_missing.clear();
    return table_->next(launch.job);
  }

  [[nodiscard]] std::string warning() const override {
    const std::string columns = table_->misspelt_columns();
    return columns.empty() ? columns : fmt::format("{}: {}", path_, columns);
  }
  void rewind() override { table_ = std::make_unique<LaunchTable>(path_); }

 private:
  std::string path_;
  std::unique_ptr<LaunchTable> table_;
};

}  // namespace

std::unique_ptr<LaunchReader> open_launch_table(const std::string& path) { return std::make_unique<TableReader>(path); }

}  // namespace strata::app
