#include "sim/app/profile/gzip_text.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/input_file.hpp"

namespace strata::app {

void GzipText::Close::operator()(gzFile_s* file) const { gzclose_r(file); }

GzipText::GzipText(std::string path) : path_(std::move(path)) {
  require_regular_file(path_);
  file_.reset(gzopen(path_.c_str(), "rb"));
  if (!file_) {
    fail(fmt::format("cannot be opened for reading: {}", std::strerror(errno)));
  }
}

void GzipText::fail(const std::string& message) const { throw InputError(Diagnostic{path_, 0, 0, {}, message}); }

GzipText::int_type GzipText::underflow() {
  const int count = gzread(file_.get(), piece_.data(), static_cast<unsigned>(piece_.size()));
  int status = Z_OK;
  const char* what = gzerror(file_.get(), &status);
  if (count <= 0) {
    if (status == Z_BUF_ERROR) {
      fail("the compressed data ends early; was the file cut short?");
    }
    if (count < 0 || (status != Z_OK && status != Z_STREAM_END)) {
      fail(fmt::format("cannot be read: {}", status == Z_ERRNO ? std::strerror(errno) : what));
    }
    return traits_type::eof();
  }
  bytes_ += static_cast<std::size_t>(count);
  setg(piece_.data(), piece_.data(), piece_.data() + count);
  return traits_type::to_int_type(piece_.front());
}

}  // namespace strata::app
