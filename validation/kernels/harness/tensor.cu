#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>
#include <random>

#include "../../microbench/bench.cuh"
#include "tensor.hpp"

namespace ladder {

namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr unsigned char kFloatPoison = 0xff;  // a NaN in every floating type
constexpr unsigned char kWholePoison = 0x7f;  // 0x7f7f7f7f: beyond any sum of products that the checks draw

/// 24 random bits of (seed, i): splitmix64's finaliser, the same on the host and on the device.
__host__ __device__ inline std::uint32_t bits24(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 40);
}

/// Uniform in [-scale, scale); every step is exact or rounds alike on host and device.
__host__ __device__ inline float uniform(std::uint64_t seed, std::uint64_t i, float scale) {
  const float unit = (static_cast<float>(bits24(seed, i)) - 8388608.0f) * (1.0f / 8388608.0f);
  return unit * scale;
}

template <class T>
__host__ __device__ inline T rounded(float x) {
  if constexpr (std::is_same_v<T, __half>) return __float2half_rn(x);
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return __float2bfloat16_rn(x);
  if constexpr (std::is_same_v<T, std::int8_t>) return static_cast<T>(rintf(x));
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>) return static_cast<T>(x);
}

template <class T>
double widened(T x) {
  return static_cast<double>(static_cast<float>(x));
}

template <class T>
__global__ void fill(T* p, std::size_t n, std::uint64_t seed, float scale) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
       i += std::size_t(gridDim.x) * blockDim.x)
    p[i] = rounded<T>(uniform(seed, i, scale));
}

/// Calls f with a value of the C++ type that `type` stands for.
template <class F>
auto dispatch(Type type, F f) {
  switch (type) {
    case Type::f16:
      return f(__half{});
    case Type::bf16:
      return f(__nv_bfloat16{});
    case Type::s8:
      return f(std::int8_t{});
    case Type::s32:
      return f(std::int32_t{});
    case Type::f32:
      break;
  }
  return f(float{});
}

bool whole(Type type) { return type == Type::s8 || type == Type::s32; }

std::uint64_t next_seed() {
  static std::uint64_t seed = (std::uint64_t(std::random_device{}()) << 32) | std::random_device{}();
  seed += 0xd1342543de82ef95ull;
  return seed;
}

}  // namespace

std::size_t type_bytes(Type type) {
  return dispatch(type, [](auto x) { return sizeof(x); });
}

const char* type_name(Type type) {
  switch (type) {
    case Type::f32:
      return "fp32";
    case Type::f16:
      return "fp16";
    case Type::bf16:
      return "bf16";
    case Type::s8:
      return "int8";
    case Type::s32:
      break;
  }
  return "int32";
}

double type_tolerance(Type type) {
  switch (type) {
    case Type::f32:
      return 3e-5;
    case Type::f16:
      return 1.5e-3;
    case Type::bf16:
      return 8e-3;
    default:
      return 0;
  }
}

Tensor::Tensor(Type type, std::size_t count) : type_(type), count_(count) {
  CHECK(cudaMalloc(&device_, count * type_bytes(type) + kGuardBytes));
}

Tensor::~Tensor() { cudaFree(device_); }

TensorPtr Tensor::random(Type type, std::size_t count, double scale) {
  TensorPtr t(new Tensor(type, count));
  t->seed_ = next_seed();
  t->scale_ = scale;
  dispatch(type, [&](auto x) {
    fill<<<bench::smCount() * 8, 256>>>(t->data<decltype(x)>(), count, t->seed_, static_cast<float>(scale));
  });
  CHECK(cudaGetLastError());
  return t;
}

TensorPtr Tensor::output(Type type, std::size_t count) {
  TensorPtr t(new Tensor(type, count));
  t->poison();
  return t;
}

TensorPtr Tensor::of(Type type, const std::vector<double>& values) {
  TensorPtr t(new Tensor(type, values.size()));
  t->given_ = values;
  dispatch(type, [&](auto x) {
    std::vector<decltype(x)> host(values.size());
    for (std::size_t i = 0; i < host.size(); ++i) {
      host[i] = rounded<decltype(x)>(static_cast<float>(values[i]));
      t->given_[i] = widened(host[i]);
    }
    CHECK(cudaMemcpy(t->device_, host.data(), host.size() * sizeof(x), cudaMemcpyHostToDevice));
  });
  return t;
}

double Tensor::value(std::size_t i) const {
  if (!given_.empty()) return given_[i];
  return dispatch(type_,
                  [&](auto x) { return widened(rounded<decltype(x)>(uniform(seed_, i, static_cast<float>(scale_)))); });
}

void Tensor::poison() {
  CHECK(cudaMemset(device_, whole(type_) ? kWholePoison : kFloatPoison, count_ * type_bytes(type_) + kGuardBytes));
}

std::vector<unsigned char> Tensor::read() const {
  std::vector<unsigned char> raw(count_ * type_bytes(type_) + kGuardBytes);
  CHECK(cudaMemcpy(raw.data(), device_, raw.size(), cudaMemcpyDeviceToHost));
  return raw;
}

double Tensor::decode(const std::vector<unsigned char>& raw, std::size_t i) const {
  return dispatch(type_, [&](auto x) {
    std::memcpy(&x, raw.data() + i * sizeof(x), sizeof(x));
    if constexpr (std::is_same_v<decltype(x), std::int32_t>)
      return static_cast<double>(x);
    else
      return widened(x);
  });
}

bool Tensor::poisoned(const std::vector<unsigned char>& raw, std::size_t i) const {
  if (!whole(type_)) return std::isnan(decode(raw, i));
  const std::size_t bytes = type_bytes(type_);
  for (std::size_t b = 0; b < bytes; ++b)
    if (raw[i * bytes + b] != kWholePoison) return false;
  return true;
}

bool Tensor::guard_intact(const std::vector<unsigned char>& raw) const {
  const unsigned char poison = whole(type_) ? kWholePoison : kFloatPoison;
  for (std::size_t b = raw.size() - kGuardBytes; b < raw.size(); ++b)
    if (raw[b] != poison) return false;
  return true;
}

}  // namespace ladder
