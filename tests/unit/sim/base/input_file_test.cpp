#include "sim/base/input_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "sim/base/error.hpp"

namespace strata {
namespace {

std::string error_of(const std::string& path) {
  try {
    require_regular_file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("input file: pipes, folders and devices are refused without being opened", "[base][error]") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("strata_input_file_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR) == 0);
  const std::string file = (folder / "file").string();
  std::ofstream(file) << "text";
  std::filesystem::create_symlink(file, folder / "link");

  CHECK(error_of(pipe) == pipe + ": is a pipe; expected a regular file");
  CHECK(error_of(folder.string()) == folder.string() + ": is a directory; expected a regular file");
  CHECK(error_of("/dev/null") == "/dev/null: is a device; expected a regular file");
  CHECK(error_of(file).empty());
  CHECK(error_of((folder / "link").string()).empty());
  CHECK(error_of((folder / "absent").string()).empty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace strata
