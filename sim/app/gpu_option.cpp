#include "sim/app/gpu_option.hpp"

#include <filesystem>

namespace strata::app {

void add_gpu_options(CLI::App& command, GpuChoice& choice) {
  command.add_option("--gpu", choice.gpu, "GPU name (`strata list gpus`) or YAML file")->capture_default_str();
  command
      .add_option("--set", choice.overrides,
                  "replaces one configuration value, as in l2.size=100MiB (`strata describe` lists the keys)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

GpuDescription load_gpu(const GpuChoice& choice) { return strata::load_gpu(choice.gpu, choice.overrides); }

std::vector<std::string> inputs_with(const GpuDescription& gpu, std::initializer_list<std::string> others) {
  std::vector<std::string> inputs(others);
  for (const std::filesystem::path& file : gpu.files) {
    inputs.push_back(file.string());
  }
  return inputs;
}

TargetFacts target_facts(const GpuConfig& gpu) {
  TargetFacts facts;
  facts.architecture = gpu.chip.architecture;
  facts.has_tma = gpu.tma.present != 0;
  facts.has_wgmma = gpu.tensor.wgmma_present != 0;
  facts.num_sms = static_cast<std::uint32_t>(gpu.num_sms());
  for (std::size_t g = 0; g < gpu.topology.gpc_sms.size(); ++g) {
    const int sms = gpu.topology.gpc_sms[g];
    const int cluster_sms = g < gpu.topology.gpc_cluster_sms.size() ? gpu.topology.gpc_cluster_sms[g] : sms;
    facts.gpcs.push_back({static_cast<std::uint32_t>(sms), static_cast<std::uint32_t>(cluster_sms)});
  }
  facts.smem_per_cta_bytes = gpu.smem.max_cta_bytes;
  facts.smem_per_sm_bytes = gpu.smem.max_bytes;
  facts.registers_per_sm = static_cast<std::uint32_t>(gpu.registers.registers);
  facts.memory_bytes = gpu.hbm.size_bytes;
  facts.memory_bytes_per_cycle = gpu.hbm_peak_gb_per_s() * 1e3 / gpu.clocks.sm_max_mhz;
  return facts;
}

}  // namespace strata::app
