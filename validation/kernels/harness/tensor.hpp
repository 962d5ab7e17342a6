// Device arrays whose contents the host can recompute, so that no input is ever copied back for the check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ladder {

enum class Type { f32, f16, bf16, s8, s32 };

[[nodiscard]] std::size_t type_bytes(Type type);
[[nodiscard]] const char* type_name(Type type);
/// Largest error accepted, as a fraction of the row's largest reference value: a few roundings of the output's type
/// (f32: accumulation order; f16, bf16: one rounding of inputs that are exact, and one of the result).
[[nodiscard]] double type_tolerance(Type type);

/// One device array. Move-free: share it with std::shared_ptr.
class Tensor {
 public:
  /// Uniform values in [-scale, scale) rounded to `type` (s8: whole numbers in [-scale, scale]), fresh in every
  /// process.
  [[nodiscard]] static std::shared_ptr<Tensor> random(Type type, std::size_t count, double scale = 1);
  /// Poisoned: NaN, or a pattern that a whole-number result never takes; a guard behind the end is poisoned too.
  [[nodiscard]] static std::shared_ptr<Tensor> output(Type type, std::size_t count);
  /// Given values, converted to `type`.
  [[nodiscard]] static std::shared_ptr<Tensor> of(Type type, const std::vector<double>& values);
  ~Tensor();
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  template <class T>
  [[nodiscard]] T* data() const {
    return static_cast<T*>(device_);
  }
  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// @return element i of an input exactly as the device holds it, computed on the host. Safe from many threads.
  [[nodiscard]] double value(std::size_t i) const;
  /// Writes the poison again.
  void poison();
  /// @return the raw bytes of the array and of its guard.
  [[nodiscard]] std::vector<unsigned char> read() const;
  /// @return element i of what read() gave.
  [[nodiscard]] double decode(const std::vector<unsigned char>& raw, std::size_t i) const;
  /// @return whether element i of what read() gave is still poison, or NaN.
  [[nodiscard]] bool poisoned(const std::vector<unsigned char>& raw, std::size_t i) const;
  /// @return whether the guard behind the end is untouched.
  [[nodiscard]] bool guard_intact(const std::vector<unsigned char>& raw) const;

 private:
  Tensor(Type type, std::size_t count);
  Type type_;
  std::size_t count_;
  void* device_ = nullptr;
  std::uint64_t seed_ = 0;
  double scale_ = 0;
  std::vector<double> given_;
};
using TensorPtr = std::shared_ptr<Tensor>;

}  // namespace ladder
