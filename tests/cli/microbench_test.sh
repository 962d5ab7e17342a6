#!/usr/bin/env bash
# validate --microbench and calibrate: a small run, its outputs, and bad input.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

recorded=$source_tree/validation/data/h100-sxm5-80gb/microbench/run-b
mkdir -p runs/one
cp "$recorded/origin.json" runs/one/
{ head -1 "$recorded/latency.csv"; grep -E 'shared|load_ca,(1|32),' "$recorded/latency.csv"; } >runs/one/latency.csv

for data in runs runs/one; do
  expect_done validate --microbench --data "$data" --rows --json m.json --html m.html
  grep -q '2 microbenchmarks, 5 points' stdout || fail "the points of $data: $(head -3 stdout)"
  grep -q 'strata.microbench/1' m.json || fail "microbench JSON"
  grep -q '<svg' m.html || fail "curves"
done
"$strata" validate --microbench --data runs -j 1 --json - >one.json 2>stderr
"$strata" validate --microbench --data runs -j 2 --json - >two.json 2>stderr
cmp -s one.json two.json || fail "the answer depends on -j"

expect_done calibrate --data runs --name my-gpu --out my-gpu.yaml
grep -q 'smem.latency_cycles' stdout || fail "calibrate names no derived value"
grep -q 'tma.issue_cycles: tma' stdout || fail "calibrate does not list what is missing"
expect_done describe smem.latency_cycles --gpu ./my-gpu.yaml
grep -q 'measured' stdout || fail "the written description has no origin"

# What is read and that nothing is written is said before it is calculated.
expect_done calibrate --data runs --no-score
grep -q 'calibrate: prints values only: no description is written without --out FILE' stderr || fail "no notice: $(cat stderr)"
expect_done calibrate --data runs --no-score --name my-gpu --out my-gpu.yaml
[[ ! -s stderr ]] || fail "a notice that is not needed: $(cat stderr)"

# From far away, each fit comes back to the shipped value: the formulas are the inverse of the model.
expect_done calibrate --no-score --set tma.latency_cycles=80 --set tlb.miss_cycles=30 --set xbar.request_latency_cycles=90 \
  --set hbm.controller_latency_ns=60 --set sm.barrier_latency_cycles=40 --set sm.cluster_barrier_latency_cycles=300 \
  --set sm.cta_launch_cycles=600 --set launch.overhead_before_cycles=900 --out back.yaml
grep -q 'reads .*validation/data/h100-sxm5-80gb/microbench, which comes with the GPU' stderr || fail "no notice of the data"
grep -q '^  l1.outstanding_sectors: no row shows a limit' stdout || fail "what is kept is not listed"
for key in tma.latency_cycles tlb.miss_cycles xbar.request_latency_cycles hbm.controller_latency_ns \
  sm.barrier_latency_cycles sm.cluster_barrier_latency_cycles sm.cta_launch_cycles launch.overhead_before_cycles; do
  shipped=$("$strata" describe "$key" --json - | grep -oE '"value": *"?[0-9.]+' | grep -oE '[0-9.]+$')
  found=$(awk -v key="$key" '$1 == key && $3 == "->" { print $4 }' stdout)
  awk -v a="$shipped" -v b="$found" 'BEGIN { exit !(b > 0.98 * a && b < 1.02 * a) }' ||
    fail "$key is shipped as '$shipped', found as '$found'"
done

# A row that only the score would refuse leaves no description, with or without the score; zeros are no measurement.
cp runs/one/latency.csv latency.csv
awk -F, -v OFS=, 'NR == 2 { $3 = 4097 } 1' latency.csv >runs/one/latency.csv
for score in "" --no-score; do
  expect_error 2 "latency.csv:2: x: 4097: shared expects a multiple of 4" calibrate --data runs --no-fit $score --out early.yaml
  [[ ! -e early.yaml ]] || fail "a description of refused rows is written $score"
done
awk -F, -v OFS=, '$2 == "load_ca" && $3 == 32 { $5 = $7 = $8 = 0 } 1' latency.csv >runs/one/latency.csv
expect_done calibrate --data runs --no-score --out zero.yaml
grep -q 'warning: runs/one/latency.csv:[0-9]*: value: 0: nothing measured; of 1 row that holds a zero none is used' stderr ||
  fail "no warning of a zero: $(cat stderr)"
grep -q 'l1.latency_cycles: latency load_ca was not measured' stdout || fail "a zero is used: $(cat stdout)"
cp latency.csv runs/one/latency.csv

# The description alone on standard output; names that no file and no --gpu can have; a name too long for a file system.
"$strata" calibrate --data runs --no-score --no-fit --name q --out - >dash.yaml 2>report || fail "--out -: $(cat report)"
expect_done describe smem.latency_cycles --gpu ./dash.yaml
grep -q 'measured directly' report || fail "--out -: no report on stderr"
long=$(printf 'x%.0s' {1..101})
for name in . .. -x "$long"; do
  expect_error 2 "--name: '.*': expected at most 100 letters, digits" calibrate --data runs --no-score --name="$name" --out n.yaml
done
expect_error 2 "--name: 'h200-sxm-141gb' comes with strata and has other SMs, L2 or memory" \
  calibrate --data runs --no-score --name h200-sxm-141gb --out n.yaml
expect_error 2 "--out: cannot be written: File name too long" calibrate --data runs --no-score --out "$long$long$long.yaml"
# Fits that end where their range does.
cp -r runs far
printf 'bench,series,x,x_unit,metric,value,unit\nlaunch,empty_128_threads,1,CTA,sm__cycles_elapsed.max,900000,cycle\n' >far/one/empty_counters.csv
expect_done calibrate --data far --no-score --name far --out far.yaml
grep -q 'warning: launch.overhead_before_cycles: the value 20000 ends where its range does, 100 to 20000: launch empty' stderr ||
  fail "no warning of a fit: $(cat stderr)"
grep -q 'doubtful: ends where its range does' far.yaml || fail "a doubtful value is written as if it were none"
# Names that are no UTF-8.
odd=$(printf 'runs-\377')
cp -r runs "$odd"
expect_done validate --microbench --data "$odd" --json odd.json --html odd.html
rm -r "$odd" far

expect_error 2 "needs --data FILE, or --microbench" validate
expect_error 2 "nowhere: .*is not a folder" validate --microbench --data nowhere
expect_error 2 "no measured microbenchmark that can be simulated matches 'latancy'; the nearest are 'latency', 'shared-memory" \
  validate --microbench --data runs --only latancy
expect_done validate --microbench --data runs --only "Shared-Memory LOAD"
expect_error 2 "132 SMs; h100-pcie-80gb has 114" validate --microbench --data runs --gpu h100-pcie-80gb
expect_error 2 "compute_capability: '9.0': measured on another architecture than a100-sxm4-80gb" \
  validate --microbench --data runs --gpu a100-sxm4-80gb
expect_error 2 "no/such/g.yaml" calibrate --data runs --out no/such/g.yaml
expect_error 2 "no microbenchmarks of a100-sxm4-80gb are recorded: .*expected --data FOLDER" \
  validate --microbench --gpu a100-sxm4-80gb
cp runs/one/latency.csv latency.csv
sed 's/23\.0[0-9]*/-23/' latency.csv >runs/one/latency.csv
expect_error 2 "latency.csv:2: value: '-23': expected a number of zero or more" validate --microbench --data runs
cp latency.csv runs/one/latency.csv
sed 's/23\.0[0-9]*/nan/' runs/one/latency.csv >nan.csv
mv nan.csv runs/one/latency.csv
expect_error 2 "latency.csv:2: value: 'nan' is not a finite number" validate --microbench --data runs
expect_error 2 "latency.csv:2: value: 'nan' is not a finite number" calibrate --data runs --out g.yaml
cp latency.csv runs/one/latency.csv
awk -F, -v OFS=, 'NR == 2 { $6 = "ns" } 1' latency.csv >runs/one/latency.csv
expect_error 2 "latency.csv:2: unit: 'ns': latency measures in clk" validate --microbench --data runs
# Rows that no program prints, or without a measurement, are left out with a warning.
awk -F, -v OFS=, 'NR == 2 { $2 = "foo" } NR == 3 { $5 = $7 = $8 = 0 } 1' latency.csv >runs/one/latency.csv
expect_done validate --microbench --data runs
grep -q "latency.csv:2: series: unknown series 'foo' of latency; the nearest is 'shared': 1 row left out" stderr ||
  fail "an unknown series has no warning: $(cat stderr)"
grep -q 'warning: 1 measured rows are left out: latency: nothing measured' stderr ||
  fail "rows are left out without a warning: $(cat stderr)"
awk -F, -v OFS=, 'NR == 2 { $4 = "KiB" } 1' latency.csv >runs/one/latency.csv
expect_done validate --microbench --data runs
grep -q "latency.csv:2: x_unit: 'KiB': latency prints shared over B" stderr || fail "no warning of x_unit: $(cat stderr)"
# Only misspelt rows: nothing to calibrate with, so no description.
awk -F, -v OFS=, 'NR > 1 { $2 = $2 "_zz" } 1' latency.csv >runs/one/latency.csv
"$strata" calibrate --data runs --no-score --out none.yaml >stdout 2>stderr && fail "calibrate takes misspelt rows"
grep -q 'runs: --data: nothing in its 0 rows tells a value of the description; of those that are missing the first is clocks.l2_mhz: hbm_traffic stride' stderr ||
  fail "calibrate without a usable row: $(cat stderr)"
[[ ! -e none.yaml ]] || fail "a description of nothing is written"
# What was cut short or left empty is no measurement.
awk -F, -v OFS=, 'NR == 2 { $10 = 19 } 1' latency.csv >runs/one/latency.csv
expect_error 2 "latency.csv:2: sm_clock_mhz: '19': expected 500 to 2475 MHz on a card of at most 1980, or 1" calibrate --data runs --out g.yaml
awk -F, -v OFS=, 'NR == 2 { $4 = "" } 1' latency.csv >runs/one/latency.csv
expect_done validate --microbench --data runs
grep -q "latency.csv:2: x_unit: '': latency prints shared over B" stderr || fail "no warning of an empty x_unit"
cp runs/one/origin.json origin.json
grep -v '"gpu"' origin.json >runs/one/origin.json
expect_error 2 "origin.json: gpu: is missing: expected the GPU's name" validate --microbench --data runs
cp origin.json runs/one/origin.json
awk 'NR == 2 { print } 1' latency.csv >runs/one/latency.csv
expect_error 2 "latency.csv:3: series: latency shared at [0-9]* B is measured twice, also in runs/one/latency.csv:2" \
  calibrate --data runs --out g.yaml
awk -F, -v OFS=, 'NR == 2 { $5 = 1e308 } 1' latency.csv >runs/one/latency.csv
expect_error 2 "latency.csv:2: value: '1e\+308' clk: expected a number from 0, at most 1e\+10" calibrate --data runs --out g.yaml
cp latency.csv runs/one/latency.csv
printf 'bench,series,x\n' >runs/one/latency.csv
expect_error 2 "latency.csv" validate --microbench --data runs
cp latency.csv runs/one/latency.csv
awk -F, -v OFS=, 'NR == 2 { $3 = 1e300 } 1' latency.csv >runs/one/latency.csv
expect_error 2 "latency.csv:2: x: '1e\+300': expected a size or count below 2\^32" validate --microbench --data runs
recorded_tma=$(grep '^tma,bulk_2048B_1stages,' "$recorded/tma.csv" | head -1)
{ head -1 "$recorded/tma.csv" && awk -F, -v OFS=, '{ $3 = 0 } 1' <<<"$recorded_tma"; } >runs/one/latency.csv
expect_error 2 "latency.csv:2: x: 0: bulk_2048B_1stages expects a whole number from 1 to 32" validate --microbench --data runs
cp latency.csv runs/one/latency.csv
cp runs/one/origin.json origin.json
sed -E 's/("sms": *)[0-9]+/\1 1e300/' origin.json >runs/one/origin.json
expect_error 2 "origin.json: sms: 1e\+300: expected a whole number from 1 to" validate --microbench --data runs
grep -v '"sms"' origin.json >runs/one/origin.json
expect_error 2 "origin.json: sms: is missing: expected a whole number from 1 to" validate --microbench --data runs
sed 's/"compute_capability": "9.0"/"compute_capability": "8.0"/; s/NVIDIA H100 80GB HBM3/a card/' origin.json >runs/one/origin.json
expect_error 2 "runs/one/origin.json: compute_capability: '8.0': .*h100-sxm5-80gb, which is hopper: expected compute capability 9.0" \
  calibrate --data runs --out g.yaml
cp origin.json runs/one/
mkdir runs/two
cp runs/one/latency.csv runs/two/
sed 's/NVIDIA H100 80GB HBM3/NVIDIA H100 PCIe/' origin.json >runs/two/origin.json
expect_error 2 "runs/two/origin.json: gpu: 'NVIDIA H100 PCIe', but 'NVIDIA H100 80GB HBM3' in runs/one/origin.json" \
  calibrate --data runs --out g.yaml
rm -r runs/two
mkdir above
mv runs above/
expect_error 2 "above: --data: holds no run: .*runs lie in above/runs; give one of them" validate --microbench --data above
mv above/runs .
rm runs/one/latency.csv
expect_error 2 "holds no measured CSV" validate --microbench --data runs
rm runs/one/origin.json
expect_error 2 "origin.json" validate --microbench --data runs

finish
