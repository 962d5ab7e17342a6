/// Text of a file that may be compressed with gzip, as PyTorch's profiler writes its traces.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <streambuf>
#include <string>

struct gzFile_s;

namespace strata::app {

/// Reads a plain file as it is, and a gzip file (also one of several members) decompressed, a piece at a time.
/// Throws InputError with the path when it cannot be opened, is no regular file, or its compressed data is damaged or
/// ends early.
class GzipText final : public std::streambuf {
 public:
  explicit GzipText(std::string path);

  /// Of the decompressed text, so far.
  [[nodiscard]] std::size_t bytes_read() const noexcept { return bytes_; }

 protected:
  int_type underflow() override;

 private:
  [[noreturn]] void fail(const std::string& message) const;

  struct Close {
    void operator()(gzFile_s* file) const;
  };
  static constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::array<char, kPiece> piece_{};
  std::size_t bytes_ = 0;
};

}  // namespace strata::app
