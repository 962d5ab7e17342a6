#include "../../microbench/bench.cuh"
#include "csv.hpp"

namespace ladder {

namespace {

std::string dims(const dim3& d) { return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z); }

std::string number(double value, const char* format) {
  if (value == 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

unsigned product(const dim3& d) { return d.x * d.y * d.z; }

}  // namespace

void write_header(std::FILE* file) {
  std::fputs(
      "case,seq,op,dtype,shape,event_median_us,kernel,grid_dim,block_dim,cluster_dim,sm_clock_mhz,lts_clock_mhz,"
      "ncu_duration_ns,sm_cycles,sm_active_cycles_avg,lts_cycles,dram_read_bytes,dram_write_bytes,lts_sectors,"
      "lts_read_sectors,lts_write_sectors,lts_from_sm_sectors,lts_from_sm_hit_sectors,lts_fabric_sectors,"
      "xbar2l1_read_sectors,l12xbar_write_sectors,l1_global_ld_sectors,l1_global_ld_hit_sectors,smem_wavefronts,"
      "bank_conflicts,warp_insts,tensor_insts,tensor_active_pct,grid,block,cluster,regs,smem_dyn,smem_static,split,"
      "vendor_median_us,max_error\n",
      file);
}

void write_rows(std::FILE* file, const Kernel& kernel, const Problem& problem, const Row& row) {
  constexpr int kCounterColumns = 23;  // sm_clock_mhz to tensor_active_pct
  int seq = 0;
  for (const Launch& launch : problem.plan.launches()) {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, launch.function));
    const Geometry& g = launch.geometry;
    const std::string& op = !launch.op.empty() ? launch.op : !problem.op.empty() ? problem.op : kernel.op;
    const std::string& shape = launch.shape.empty() ? problem.shape : launch.shape;
    std::fprintf(file, "%s,%d,%s,%s,\"%s\",%s,%s,%s,%s,%s,%s", row.case_name.c_str(), ++seq, op.c_str(),
                 kernel.dtype.c_str(), shape.c_str(), number(row.event_median_us, "%.3f").c_str(),
                 launch.kernel.c_str(), dims(g.grid).c_str(), dims(g.block).c_str(), dims(g.cluster).c_str(),
                 std::string(kCounterColumns, ',').c_str());
    std::fprintf(file, "%u,%u,%u,%d,%zu,%zu,%s,%s,%.3g\n", product(g.grid), product(g.block), product(g.cluster),
                 attributes.numRegs, g.dynamic_smem_bytes, attributes.sharedSizeBytes, row.split.c_str(),
                 number(row.vendor_median_us, "%.3f").c_str(), row.verdict.worst);
  }
  std::fflush(file);
}

}  // namespace ladder
