/// A file for a reader to read, gone at the end of the test.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace strata::test {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "temporary_file." + std::to_string(getpid());
};

}  // namespace strata::test
