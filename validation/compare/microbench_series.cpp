#include "validation/compare/microbench_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/text.hpp"
#include "validation/compare/microbench_units.hpp"

namespace strata {

namespace {

/// Names that a program prints over one unit of x. "{a,b}" stands for either, "#" for a number.
struct Series {
  std::string_view bench;
  std::string_view x_unit;
  std::string_view pattern;
};

constexpr std::array kSeries{
    Series{"alu", "chain",
           "{ffma,fadd,fmul,iadd3,imad,lop3,shf,hfma2,hadd2,bf16_hfma2,mufu_ex2,mufu_rsq,mufu_sin,mufu_tanh,cvt_bf16x2,"
           "cvt_f16x2,cvt_i2f,cvt_f2i,shfl_bfly,shfl_idx,fmnmx,dfma,prmt,popc,vote}_latency"},
    Series{"alu", "chains",
           "{ffma,fadd,fmul,iadd3,imad,lop3,shf,hfma2,hadd2,bf16_hfma2,mufu_ex2,mufu_rsq,mufu_sin,mufu_tanh,cvt_bf16x2,"
           "cvt_f16x2,cvt_i2f,cvt_f2i,shfl_bfly,shfl_idx,fmnmx,dfma,prmt,popc,vote}_one_warp"},
    Series{"alu", "warps",
           "{ffma,fadd,fmul,iadd3,imad,lop3,shf,hfma2,hadd2,bf16_hfma2,mufu_ex2,mufu_rsq,mufu_sin,mufu_tanh,cvt_bf16x2,"
           "cvt_f16x2,cvt_i2f,cvt_f2i,shfl_bfly,shfl_idx,fmnmx,dfma,prmt,popc,vote}_interval"},
    Series{"barrier", "CTA", "cluster_barrier{,_relaxed}"},
    Series{"barrier", "threads",
           "{syncthreads{,_last_arriver,_last_released},named_barrier,syncwarp,fence_proxy_async}"},
    Series{"barrier", "threads", "{fence_cta,fence_gpu}"},
    Series{"barrier", "threads",
           "mbarrier_{arrive,try_wait_ready,arrive_wait_1_thread,arrive_wait_all_threads,arrive_expect_tx,"
           "arrive_to_wake}"},
    Series{"cold_start", "CTA", "first_load_{dirty,clean,clean_warm_code}"},
    Series{"cold_start", "KiB", "{read,copy}_{dirty,clean,clean_warm_code,resident}_{duration,slowest_cta}"},
    Series{"cold_start", "threads", "one_sm_unroll#_{l2,hbm}_clk_per_KiB"},
    Series{"cta_ends", "CTA", "wait_#_threads"},
    Series{"cta_ends", "KiB", "inputs_#"},
    Series{"cta_ends", "clk", "wait_apart"},
    Series{"dsmem_atomics", "CTA", "dsmem_{load,bulk#B}_{one_cluster,all}"},
    Series{"dsmem_atomics", "SM",
           "{red_u32,atom_u32,red_f32}_{one_address,line_per_warp,sector_per_lane,line_per_lane}"},
    Series{"dsmem_atomics", "SM", "red_v4_f32_line_per_warp_quarter"},
    Series{"dsmem_atomics", "thread", "atom_chain"},
    Series{"first_touch", "CTA", "{nothing,own_page_each,own_line_each}"},
    Series{"first_touch", "KiB", "code_{1_cta,all_sms}"},
    Series{"first_touch", "lines", "lines_in_turn_1_cta"},
    Series{"first_touch", "pages", "{pages_at_once_1_cta,pages_in_turn_1_cta,same_pages_all_sms}"},
    Series{"hbm", "B", "{random_rows,stride_32B_of}{,_events,_duration}"},
    Series{"hbm", "KiB", "cold_read{,_bulk}{,_events,_duration}"},
    Series{"hbm", "MiB", "{read,write,read_bulk,copy_1r1w,triad_2r1w}{,_events}"},
    Series{"hbm", "SM", "read_bulk_by_sms{,_events,_duration}"},
    Series{"hbm", "read_share", "mix_#r#w{,_pad#,_ctas_per_sm_#}{,_events}"},
    Series{"hbm_load", "KiB/SM", "rows_of_#B_#_rate"},
    Series{"hbm_load", "KiB/SM", "{line,box}_beside_#_{load,p#}"},
    Series{"hbm_load", "line", "alone_{waits,longest_wait,between_stops}"},
    Series{"hbm_shares", "KiB/SM",
           "{all_ranges,all_in_turn,all_loads,one_sm,one_tpc,cpc_of_#,two_cpcs_of_a_gpc,two_cpcs_of_two_gpcs,gpc,"
           "half_the_cpcs,half_the_gpcs}_{rate,mean_of_last}"},
    Series{"hbm_shares", "SM", "of_every_cpc_#KiB_{rate,mean_of_last}"},
    Series{"hbm_shares", "SM/CPC", "{all_ranges,all_in_turn,all_loads}_#_end"},
    Series{"hbm_shares", "copy", "{all_ranges,all_in_turn}_#_arrival"},
    Series{"hbm_traffic", "B", "stride"},
    Series{"hbm_traffic", "MiB", "{write_clean,read_first,read_second,read_third}"},
    Series{"hbm_traffic", "mask", "write_sectors_mask"},
    Series{"instruction_fetch", "KiB", "{,one_sm_}{steady,cold}_warps_#{,_apart_#}"},
    Series{"issue_slots", "warps/SMSP", "chains_#"},
    Series{"l1_hits", "B", "ldg32_offset_#warps"},
    Series{"l1_hits", "B/lane", "{ldg32_stride,ldg128_stride,ldg32_nc}_#warps"},
    Series{"l1_hits", "LDS/LDG", "{ldg32,ldg128}_lds_#warps"},
    Series{"l1_hits", "SHFL/LDG", "ldg32_shfl_#warps"},
    Series{"l1_hits", "each/LDG", "ldg32_lds_shfl_#warps"},
    Series{"l1_hits", "warps/SMSP", "{ldg32,ldg64,ldg128}_#smsps"},
    Series{"l1_rows", "B", "ldg_2B"},
    Series{"l1_hits", "words", "ldg32_{broadcast,line_apart}_#warps"},
    Series{"l1_turns", "warps",
           "{ldg_#_wavefronts_#,ldg_#_wavefront_#,lds_#_wavefronts_#,lds_beside_ldg_#_wavefronts_#,lds_#_wavefront_#}_{"
           "probe,both}_{older,younger}"},
    Series{"l2_bandwidth", "KiB", "{ldg,bulk}_private_{sm,gpc}_footprint{,_sum_of_rates}"},
    Series{"l2_bandwidth", "MiB", "{ldg,bulk,store}_{private,shared,skewed,rotate}_footprint{,_sum_of_rates}"},
    Series{"l2_bandwidth", "SM",
           "{ldg,cp_async,bulk,tile,tile_pitch8k,store,bulk_store}_{private,shared,skewed}_{sm,tpc,two_tpcs_of_gpc,"
           "two_sms_of_two_gpcs,sm_per_tpc_of_gpc,gpc,sm_per_gpc,tpc_per_gpc,two_gpcs,sm_per_tpc,all}"
           "{,_sum_of_rates}"},
    Series{"l2_bandwidth", "SM",
           "{ldg,bulk,store}_{private,shared,skewed}_{in_gpc,one_cpc,three_cpcs,side#,spread}{,_sum_of_rates}"},
    Series{"l2_bandwidth", "gpc", "{ldg,bulk,store}_private_each_gpc{,_sum_of_rates}"},
    Series{"l2_bandwidth", "smid", "{ldg,bulk,store}_private_per_sm"},
    Series{"l2_fabric", "SM", "{after_other_side,again,fill_from_memory}_side#"},
    Series{"l2_fabric", "SM", "swap_halves{,_again}"},
    Series{"l2_fabric", "gpc", "side_of_gpc"},
    Series{"l2_fabric", "side", "sms_of_side"},
    Series{"l2_partition", "B", "home_by_{line,block#k}_{a,b}#"},
    Series{"l2_partition", "all", "sequence_{a,b}#"},
    Series{"l2_partition", "all", "write_{a,b}_writes_{store_and_fence,then_a#,then_b#,then_a#_far,then_b#_far}"},
    Series{"l2_partition", "line", "{sequence_raw_a#,sequence_raw_b#,steady_raw_sm#}"},
    Series{"l2_partition", "none", "{near_far_cut,partner_sm}"},
    Series{"l2_partition", "smid", "{touch#,far_fraction,touch#_p#}_after_sm#"},
    Series{"l2_partition", "smid", "steady_by_sm"},
    Series{"l2_partition", "touch", "same_sm_touch_#"},
    Series{"l2_slices", "line", "{first_touch,latency}_from_gpc#"},
    Series{"latency", "B", "{shared,bulk_l2_hit,bulk_hbm,tile128B_l2_hit,tile128B_hbm}"},
    Series{"latency", "KiB", "{load_ca,load_cg_after_#_passes}"},
    Series{"latency", "MiB", "page_2mib"},
    Series{"launch", "CTA", "{empty_#_threads,empty_in_stream,empty_in_graph,empty_between_events}"},
    Series{"launch", "CTA", "graph_node_{gap,first_to_last}"},
    Series{"launch", "threads",
           "{tiny_#k,one_per_sm_#k,one_per_sm_long,first_wave,smem#k_long,cluster#_tiny,cluster#_one_per_sm,"
           "cluster#_one_per_sm_long}_{rate,first_to_last_start,end_to_next_start,start_to_start_on_sm,cta_duration}"},
    Series{"launch", "threads", "quiet_gap_smem#k"},
    Series{"lrc", "SM",
           "{ldg,bulk}_{warm,sm,tpc,two_tpcs_of_gpc,sm_per_tpc_of_gpc,gpc,gpc#,sm_per_gpc,two_gpcs,all,sm#_with_#}"
           "_skew#"},
    Series{"lrc_lines", "lane",
           "{base,pair,openers,openers_far,openers_lines,gpc,gpc_lines,four,words_of_a_sector,next_sector,"
           "next_sector_#,skewed,skewed_openers,lines_gpc,lines_all,sectors_of_lines_gpc,sectors_of_lines_all}_sets#_"
           "readers#_skew#_lanes#_pitch#_#B_off#"},
    Series{"mma_sync", "chains",
           "{bf16_m16n8k16,fp16_m16n8k16,bf16_m16n8k8,tf32_m16n8k8,tf32_m16n8k4,int8_m16n8k32,int8_m16n8k16,"
           "fp16acc_m16n8k16}_chains"},
    Series{"mma_sync", "warps",
           "{bf16_m16n8k16,fp16_m16n8k16,bf16_m16n8k8,tf32_m16n8k8,tf32_m16n8k4,int8_m16n8k32,int8_m16n8k16,"
           "fp16acc_m16n8k16}_{1chain,2chains,4chains}"},
    Series{"mma_sync", "warps",
           "{bf16_m16n8k16_with,bf16_m16n8k8_with,alone}_{ffma{,_2warps,_1dep,_2dep,_3dep,_1chain},iadd3{,_1dep,_2dep},"
           "mufu,lds32,lop3,imad,shfl}{,_partner}"},
    Series{"partial_stores", "B/lane",
           "{w2_resident,w4_resident,w4_present,w4_absent,w4_memory,w8_resident,w16_resident}"},
    Series{"partial_stores", "B/piece", "sector_{resident,memory}"},
    Series{"partial_stores", "SM", "{word,sector,scattered_word,scattered_sector,scattered_line}_by_sms"},
    Series{"partial_stores", "rows",
           "{w2,w4,w8,w16,sector,two_sector,sector_by_words}_columns{,_padded,_across,_present}"},
    Series{"partial_stores", "words", "words_{resident,absent,memory}"},
    Series{"shared_memory", "B/lane",
           "{lds32,lds64,lds128,ldmatrix_x1,ldmatrix_x2,ldmatrix_x4,ldmatrix_x4_trans}_latency"},
    Series{"shared_memory", "B/lane", "{lds64,lds128,sts128}_rate_stride"},
    Series{"shared_memory", "B/row", "{ldmatrix_x1,ldmatrix_x2,ldmatrix_x4,ldmatrix_x4_trans,stmatrix_x4}_rate_pitch"},
    Series{"shared_memory", "SMSP", "{lds32,lds128,ldmatrix_x4,sts32,sts128,stmatrix_x4}_by_smsp_#warps"},
    Series{"shared_memory", "lanes", "lds32_rate_broadcast"},
    Series{"shared_memory", "warps", "{lds32,lds128,ldmatrix_x4,sts32,ldg32_l1,cp_async16_l1}_rate_warps"},
    Series{"shared_memory", "words", "{lds32,sts32}_rate_stride"},
    Series{"tma", "B", "{bulk,tile128}_size_#warps{,_interval}"},
    Series{"tma", "B", "{store_1sm,store_all}{,_interval}"},
    Series{"tma", "B", "{bulk,tile128}_one_thread_unrolled_interval"},
    Series{"tma", "B", "{issue_interval,issue8_to_done}_{bulk,tile}"},
    Series{"tma", "B", "descriptor_{first,second}_use_{hbm,l2}"},
    Series{"tma", "B/row", "tile_row{,_all_sms}_#warps{,_interval}"},
    Series{"tma", "CTA", "multicast_delivered_{one_cluster,all}"},
    Series{"tma", "warps", "{bulk,tile128}_#B_#stages{,_interval}"},
    Series{"tma_beyond", "columns", "{plain,multicast}_columns_{tpc,cpc,gpc,all}"},
    Series{"tma_beyond", "rows", "{plain,multicast}_{rows_tpc,rows_cpc,rows_gpc,rows_all,rows_of_#_all,own_rows_all}"},
    Series{"tma_edges", "box", "width#_pitch#_height#_rows#_x#_y#_cluster#"},
    Series{"topology", "CTA", "{cluster2_is_smid_pair,max_active_clusters}"},
    Series{"topology", "gpc", "sms_in_gpc"},
    Series{"topology", "smid", "{gpc_of_sm,dsmem_latency_from_#}"},
    Series{"wgmma", "N", "{bf16,fp16,fp8,tf32,int8}_{ss_4inflight,rs_4inflight,ss_2wg}"},
    Series{"wgmma", "N", "bf16_ss_{idle_producer,fill_all_#warps,fill_all_#warps_fill_rate}"},
    Series{"wgmma", "N", "bf16_{ss,rs}_fill_1sm_#warps{,_fill_rate}"},
    Series{"wgmma", "N", "clock_all_sms_bf16{,_2wg}_{zeros,random}{,_fill_rate}"},
    Series{"wgmma", "inflight", "bf16_{ss,rs}_drained_n#"},
    Series{"wgmma", "per_group", "bf16_ss_wait1_n#"},
    Series{"wgmma_overlap", "N",
           "{bf16_ss_with,partner}_{none,ffma,ffma_1dep,iadd3,mufu,lds128,cvt_bf16x2,softmax_mix,lop3}"},
};

/// The end of the group that begins at `open`.
std::size_t closing(std::string_view pattern, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < pattern.size(); ++i) {
    depth += pattern[i] == '{' ? 1 : pattern[i] == '}' ? -1 : 0;
    if (depth == 0) return i;
  }
  return pattern.size();
}

/// The alternatives of the first group, each with what stands around it; the pattern itself when it has none.
std::vector<std::string> alternatives(std::string_view pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) return {std::string(pattern)};
  const std::size_t close = closing(pattern, open);
  const std::string head(pattern.substr(0, open));
  const std::string tail(pattern.substr(close + 1));
  std::vector<std::string> out;
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t i = open + 1; i <= close; ++i) {
    if ((pattern[i] == ',' && depth == 0) || i == close) {
      std::string one = head;
      one += pattern.substr(begin, i - begin);
      one += tail;
      out.push_back(std::move(one));
      begin = i + 1;
    }
    depth += pattern[i] == '{' ? 1 : pattern[i] == '}' ? -1 : 0;
  }
  return out;
}

void expand(std::string_view pattern, std::vector<std::string>& out) {
  for (const std::string& one : alternatives(pattern)) {
    if (one.find('{') == std::string::npos) {
      out.push_back(one);
    } else {
      expand(one, out);
    }
  }
}

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Whether the text is the name, in which "#" is a number.
bool is(std::string_view name, std::string_view text) {
  std::size_t at = 0;
  for (const char c : name) {
    if (at == text.size() || (c == '#' ? !digit(text[at]) : text[at] != c)) return false;
    ++at;
    while (c == '#' && at < text.size() && digit(text[at])) ++at;
  }
  return at == text.size();
}

/// The text with the name's "#" where the name has them and the text a number: so numbers do not count as misspelt.
std::string with_numbers_blanked(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!digit(c)) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

std::vector<std::string> names_of(std::string_view bench, std::string_view x_unit) {
  std::vector<std::string> out;
  for (const Series& s : kSeries) {
    if (s.bench == bench && s.x_unit == x_unit) expand(s.pattern, out);
  }
  return out;
}

std::string nearest(const std::string& series, const std::vector<std::string>& names) {
  const std::string blank = with_numbers_blanked(series);
  std::string best;
  std::size_t least = std::string::npos;
  for (const std::string& name : names) {
    const std::size_t distance =
        std::min(edit_distance(series, name), edit_distance(blank, with_numbers_blanked(name)));
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  // A number that the name leaves open is shown as one.
  for (std::size_t at = best.find('#'); at != std::string::npos; at = best.find('#', at)) best.replace(at, 1, "N");
  return best;
}

std::optional<Diagnostic> problem(const MicrobenchRow& row, const char* key, std::string message) {
  return Diagnostic{row.file, row.line, 0, key, std::move(message)};
}

/// X_cold_counters.csv holds launches of X, treated otherwise.
std::string program_of(std::string bench) {
  for (const std::string_view treatment : {"_cold", "_warm"}) {
    if (bench.ends_with(treatment)) bench.resize(bench.size() - treatment.size());
  }
  return bench;
}

}  // namespace

bool known_program(const std::string& bench) {
  return std::any_of(kSeries.begin(), kSeries.end(), [&](const Series& s) { return s.bench == program_of(bench); });
}

std::optional<Diagnostic> unknown_series(const MicrobenchRow& row) {
  const std::string bench = program_of(row.bench);
  std::vector<std::string> programs;
  for (const Series& s : kSeries) {
    if (programs.empty() || programs.back() != s.bench) programs.emplace_back(s.bench);
  }
  if (std::find(programs.begin(), programs.end(), bench) == programs.end()) {
    return problem(row, "bench",
                   fmt::format("unknown program '{}'; the nearest is '{}'", bench, nearest_name(bench, programs)));
  }
  if (const auto wrong = unknown_metric(row.metric)) return problem(row, "metric", *wrong);
  const std::vector<std::string> names = names_of(bench, row.x_unit);
  const auto named = [&row](const std::string& name) { return is(name, row.series); };
  if (std::any_of(names.begin(), names.end(), named)) return std::nullopt;
  std::vector<std::string_view> units;
  std::vector<std::string> all;
  for (const Series& s : kSeries) {
    if (s.bench != bench) continue;
    std::vector<std::string> some;
    expand(s.pattern, some);
    if (std::any_of(some.begin(), some.end(), named) &&
        std::find(units.begin(), units.end(), s.x_unit) == units.end()) {
      units.push_back(s.x_unit);
    }
    all.insert(all.end(), some.begin(), some.end());
  }
  if (!units.empty()) {
    return problem(row, "x_unit",
                   fmt::format("'{}': {} prints {} over {}", row.x_unit, bench, row.series, fmt::join(units, " or ")));
  }
  return problem(
      row, "series",
      fmt::format("unknown series '{}' of {}; the nearest is '{}'", row.series, bench, nearest(row.series, all)));
}

}  // namespace strata
