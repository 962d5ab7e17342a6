/// Bytes in and out: variable-length integers over a growing or a fixed buffer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::trace_file {

/// Thrown by ByteReader when the bytes end early or a value does not fit; the file reader turns it into an InputError.
struct Malformed {
  const char* what;
};

class ByteWriter {
 public:
  void varint(std::uint64_t v) {
    while (v >= 0x80) {
      bytes_.push_back(static_cast<std::byte>(v | 0x80));
      v >>= 7;
    }
    bytes_.push_back(static_cast<std::byte>(v));
  }
  void zigzag(std::int64_t v) { varint((static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63)); }
  void fixed64(std::uint64_t v) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::byte>(v >> (8 * i)));
  }
  void number(double v) { fixed64(std::bit_cast<std::uint64_t>(v)); }
  void text(std::string_view s) {
    varint(s.size());
    for (const char c : s) bytes_.push_back(static_cast<std::byte>(c));
  }
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void clear() { bytes_.clear(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto b = static_cast<std::uint64_t>(next());
      v |= (b & 0x7f) << shift;
      if ((b & 0x80) == 0) return v;
    }
    throw Malformed{"an integer of more than 64 bits"};
  }
  std::int64_t zigzag() {
    const std::uint64_t v = varint();
    return static_cast<std::int64_t>((v >> 1) ^ (~(v & 1) + 1));
  }
  std::uint64_t fixed64() {
    std::uint64_t v = 0;
    for (unsigned i = 0; i < 8; ++i) v |= static_cast<std::uint64_t>(next()) << (8 * i);
    return v;
  }
  double number() { return std::bit_cast<double>(fixed64()); }
  std::string text() {
    const std::uint64_t n = count(1);
    std::string s(n, '\0');
    for (char& c : s) c = static_cast<char>(next());
    return s;
  }
  /// A number of items that take at least `item_bytes` each: more than the bytes left cannot be true.
  std::uint64_t count(std::uint64_t item_bytes) {
    const std::uint64_t n = varint();
    if (n > left() / item_bytes) throw Malformed{"a list longer than its section"};
    return n;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::byte next() {
    if (at_ == bytes_.size()) throw Malformed{"a section that ends early"};
    return bytes_[at_++];
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace strata::trace_file
