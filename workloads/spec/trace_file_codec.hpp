/// Operations to bytes and back: each is a shape out of a dictionary, plus what varies within the shape.
///
/// A shape is an operation without its address, its wait counts and its table index. Those are predicted to advance as
/// they did between the last two operations of the same shape, and only the difference is written: streams of a tiled
/// kernel repeat, so most differences are zero. State is reset at every block, so blocks decode on their own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/spec/operation.hpp"
#include "workloads/spec/trace_file_bytes.hpp"

namespace strata::trace_file {

/// Last values and steps of the varying fields of one shape.
struct Predictor {
  std::uint32_t block = 0;  ///< the block these values belong to, plus one
  std::uint32_t table = 0;
  std::uint32_t table_step = 0;
  std::uint64_t address = 0;
  std::uint64_t address_step = 0;
  std::array<std::uint32_t, 4> count{};
  std::array<std::uint32_t, 4> count_step{};
};

class OperationEncoder {
 public:
  /// Starts block `index`; forgets all predictions.
  void start_block(std::uint64_t index) { block_ = static_cast<std::uint32_t>(index + 1); }
  /// `first` marks the first operation of a batch that the source gave in one fetch.
  void encode(const Operation& op, bool first, ByteWriter& out);
  [[nodiscard]] std::size_t num_shapes() const { return predictors_.size(); }
  /// The dictionary, for the index.
  void write_shapes(ByteWriter& out) const;

 private:
  std::uint32_t shape_of(const Operation& op);

  /// The last shape seen for a place in the kernel: saves most look-ups.
  struct Recent {
    Operation shape{};
    std::uint32_t id = 0;
    bool valid = false;
  };
  std::array<Recent, 256> recent_{};
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<Operation> shapes_;
  std::vector<Predictor> predictors_;
  ByteWriter key_;
  std::uint32_t block_ = 0;
};

class OperationDecoder {
 public:
  /// Reads the dictionary; throws Malformed.
  void read_shapes(ByteReader& in);
  [[nodiscard]] std::size_t num_shapes() const { return shapes_.size(); }
  /// Decodes `count` operations of block `index`; first[i] tells whether a batch starts at i. Throws Malformed.
  void decode(std::uint64_t index, ByteReader& in, std::size_t count, std::vector<Operation>& ops,
              std::vector<std::uint8_t>& first);

 private:
  std::vector<Operation> shapes_;
  std::vector<Predictor> predictors_;
};

}  // namespace strata::trace_file
