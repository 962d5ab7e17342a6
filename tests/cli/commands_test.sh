#!/usr/bin/env bash
# What each command shows, and its exit codes.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

shows() {
  local pattern=$1
  shift
  expect_done "$@"
  grep -qE -- "$pattern" stdout || fail "no '$pattern' in: strata $*"
}

shows 'h100-sxm5-80gb' list gpus
shows 'flash_attention' list kernels
shows 'lts__t_sectors_srcunit_tex.sum' list metrics
shows 'l2.size_bytes' describe l2
shows '52428800|50MiB' describe l2.size_bytes --gpu h100-sxm5-80gb
shows '104857600|100MiB' describe l2.size_bytes --set l2.size=100MiB
shows '132' describe topology
shows 'L2 +50 MiB' describe topology
# The meaning and the source of a key are wrapped, to a page of 120 columns in a pipe.
expect_done describe l2.data_share
[[ $(wc -L <stdout) -le 120 ]] || fail "describe is wider than a page in a pipe"
grep -qE '^l2.data_share +0.9 +ratio .* measured' stdout || fail "value and origin are not on the key's line"
grep -q 'l2.size is l2.size_bytes' stdout || fail "describe names no short keys"
for words in 'list gpus' 'list metrics' 'list kernels' 'list operators' 'describe l2'; do
  # shellcheck disable=SC2086
  expect_done $words --json -
  head -c 60 stdout | grep -q '"schema": "strata\.' || fail "$words --json prints no JSON"
done
script -qec "stty cols 100; $strata describe l2.data_share" /dev/null </dev/null >terminal 2>/dev/null
grep -qE '^    .{20,}' terminal || fail "describe wraps no source on a terminal: $(cat terminal)"
[[ $(tr -d '\r' <terminal | wc -L) -le 100 ]] || fail "describe is wider than a terminal of 100 columns"
# What predict has no column for is not listed as one of its columns.
expect_done list metrics
for name in bank_conflicts dram_row_activations tma_bytes; do
  grep -q "^  $name " stdout || fail "$name is listed as a column of predict"
done
grep -q '^\* smem_wavefronts ' stdout || fail "smem_wavefronts is not listed as a column of predict"
expect_done describe topology --dot topology.dot
grep -q 'graph' topology.dot || fail "no graph in the Graphviz file"
shows '--tile-m' run gemm --help
for option in --gpu --set --sm-clock --kernel --exact --json --csv --html --timeline; do
  shows "^ +$option" run gemm --help
done
shows '^ +--out' trace record gemm --help
# A trace holds its kernel: --trace is no option of one.
! "$strata" run gemm --help | grep -q -- --trace || fail "--trace among the options of a kernel"
shows '^ +--trace' run --help
for default in 'causal \[on\|off\]=off' 'pipelined \[on\|off\]=on'; do
  shows "--$default" run flash_attention --help
done
shows 'with l2.size_bytes = 100 MiB .described: 50 MiB.' run gemm --m 64 --n 64 --k 64 --set l2.size=100MiB
version=$(sed -nE 's/^project\(strata VERSION ([0-9.]+).*/\1/p' "$source_tree/CMakeLists.txt")
shows "^strata $version\$" --version
shows 'SM cycles' run elementwise --rows 512 --cols 512 --inputs 2
shows 'strata.result/1' run gemm --m 512 --n 512 --k 512 --json -
shows '"sm__cycles_elapsed.max"' run gemm --m 512 --n 512 --k 512 --sm-clock 1500 --json -

# A switch without a value is on, whatever its default.
attention=(flash_attention --heads 2 --q-len 256)
simt=(gemm_simt --m 256 --n 256 --k 64)
wgmma=(gemm_tma_wgmma --m 4096 --n 4096 --k 64)
shows 'causal' run "${attention[@]}" --causal
bare_is_on() {  # SWITCH KERNEL OPTIONS...
  local switch=$1
  shift
  for value in '' on off; do
    expect_done run "$@" $switch $value --json "switch_$value.json"
  done
  cmp -s switch_.json switch_on.json || fail "a bare $switch is not on: run $*"
  cmp -s switch_.json switch_off.json && fail "a bare $switch is off: run $*"
}
bare_is_on --causal "${attention[@]}"
bare_is_on --read-c "${simt[@]}"
bare_is_on --serpentine "${wgmma[@]}"
expect_done trace record "${attention[@]}" --causal --out bare.trace
expect_done trace record "${attention[@]}" --causal on --out on.trace
cmp -s bare.trace on.trace || fail "a bare --causal is not on: trace record"
shows '^ +--causal \[on\|off\]=off' run flash_attention --help
shows '^ +--swizzle \[on\|off\]=on' run gemm_mma_sync --help

# validate: exit 1 when the threshold is missed, 0 when it is met.
data=$source_tree/validation/data/h100-sxm5-80gb/library_kernels.csv
{ head -1 "$data"; grep '^add_bf16_1024x1024' "$data"; grep '^attn_math_b1_h16_16_q4096_k4096_d64_c,6' "$data"; } >one.csv
expect_done validate --data one.csv --gpu h100-sxm5-80gb --max-error-cycles 1000 --rows --json v.json --html v.html
grep -q 'strata.validation/1' v.json || fail "validation JSON"
grep -q '<svg' v.html || fail "scatter plot"
grep -q 'add_bf16_1024x1024' stdout || fail "--rows lists no launch"
grep -q 'all / elementwise' stdout || fail "no table of a family"
grep -q "^The last tables, 'sm_cycles at a glance', .*and 'HBM at a glance'" stdout || fail "no word of the last tables"
expect_done validate --data one.csv --cycles-only --glance
grep -q '^sm_cycles at a glance' stdout || fail "--glance prints no glance"
! grep -q 'all / ' stdout || fail "--glance prints the tables of families"
# Counters of a GPU's folder, scored as another's.
mkdir -p h100-pcie-80gb && cp one.csv h100-pcie-80gb/
warning='warning: h100-pcie-80gb/one.csv: lies in the folder of h100-pcie-80gb, whose counters are scored as h100-sxm5'
expect_done validate --data h100-pcie-80gb/one.csv --gpu h100-sxm5-80gb --cycles-only
grep -q "$warning" stderr || fail "no warning for counters of another GPU: $(cat stderr)"
expect_done validate --data one.csv --gpu h100-sxm5-80gb --cycles-only
[[ ! -s stderr ]] || fail "a warning without a reason: $(cat stderr)"
"$strata" validate --data one.csv --max-error-cycles 0.000001 >stdout 2>stderr
[[ $? -eq 1 ]] || fail "a missed threshold does not exit 1: $(cat stderr)"

finish
