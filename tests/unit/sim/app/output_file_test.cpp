#include "sim/app/output_file.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sim/base/error.hpp"

using strata::app::OutputFile;
using strata::app::OutputSet;
namespace fs = std::filesystem;

namespace {

/// A folder that is gone at the end of the test.
struct TemporaryFolder {
  fs::path path = fs::path("output_file_test." + std::to_string(getpid()));
  TemporaryFolder() { fs::create_directory(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(path), {}); }
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("output: a file appears whole at commit, and not at all without it") {
  const TemporaryFolder folder;
  const fs::path target = folder.path / "out.txt";
  {
    OutputFile out(target.string());
    out.write("half");
    CHECK_FALSE(fs::exists(target));
  }
  CHECK(folder.files() == 0);
  OutputFile out(target.string());
  out.write("who");
  out.write("le");
  out.commit();
  CHECK(text_of(target) == "whole");
  CHECK(folder.files() == 1);
}

TEST_CASE("output: a failed run leaves the old file as it was") {
  const TemporaryFolder folder;
  const fs::path target = folder.path / "out.txt";
  std::ofstream(target) << "old";
  {
    OutputFile out(target.string());
    out.write("new");
  }
  CHECK(text_of(target) == "old");
}

TEST_CASE("output: what cannot be written is refused before any work") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(OutputFile((folder.path / "no" / "such" / "out").string()), strata::InputError);
  CHECK_THROWS_AS(OutputFile(folder.path.string()), strata::InputError);
  OutputSet set;
  CHECK_FALSE(set.open("", "--json"));
  CHECK(set.open((folder.path / "a").string(), "--json"));
  CHECK_THROWS_AS(set.open((folder.path / "a").string(), "--csv"), strata::InputError);
}

TEST_CASE("output: two options may not name one file, however they spell it") {
  const TemporaryFolder folder;
  {
    OutputSet set;
    CHECK(set.open((folder.path / "a").string(), "--json"));
    CHECK_THROWS_AS(set.open((folder.path / "." / "a").string(), "--csv"), strata::InputError);
    CHECK(set.open((folder.path / "b").string(), "--csv"));
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("output: neither a file that is read nor a place in a folder that is read") {
  const TemporaryFolder folder;
  const fs::path runs = folder.path / "runs";
  fs::create_directory(runs);
  std::ofstream(folder.path / "base.yaml") << "old";
  const auto refused = [&](const fs::path& output, const fs::path& input) {
    try {
      strata::app::refuse_overwriting_inputs({{output.string(), "--out"}}, {"", input.string()});
      return false;
    } catch (const strata::InputError&) {
      return true;
    }
  };
  CHECK(refused(folder.path / "." / "base.yaml", folder.path / "base.yaml"));
  CHECK(refused(runs / "new.csv", runs));
  CHECK(refused(runs / "deeper" / "new.csv", fs::absolute(runs)));
  CHECK(refused(runs, runs));
  CHECK_FALSE(refused(runs / ".." / "new.csv", runs));
  CHECK_FALSE(refused(folder.path / "runs.csv", runs));
  CHECK_FALSE(refused("-", runs));
  CHECK_FALSE(refused("", "."));
}

TEST_CASE("output: a name as long as names can be, and standard output by its other names") {
  const TemporaryFolder folder;
  const fs::path target = folder.path / std::string(255, 'n');
  {
    OutputFile out(target.string());
    out.write("x");
    out.commit();
  }
  CHECK(text_of(target) == "x");
  CHECK(OutputFile("/dev/stdout").is_stdout());
  OutputSet set;
  CHECK(set.open("-", "--json"));
  CHECK_THROWS_AS(set.open("/dev/stdout", "--csv"), strata::InputError);
  CHECK(set.uses_stdout());
}

TEST_CASE("output: a full device is an input error") {
  OutputFile out("/dev/full");
  CHECK_THROWS_AS(out.write("x"), strata::InputError);
}
