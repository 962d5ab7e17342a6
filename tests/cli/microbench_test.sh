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

expect_error 2 "needs --data FILE, or --microbench" validate
expect_error 2 "nowhere: .*is not a folder" validate --microbench --data nowhere
expect_error 2 "no measured microbenchmark matches 'nothing'" validate --microbench --data runs --only nothing
expect_error 2 "132 SMs; a100-sxm4-80gb has 108" validate --microbench --data runs --gpu a100-sxm4-80gb
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
awk -F, -v OFS=, 'NR == 2 { $2 = "foo" } NR == 3 { $5 = 0 } 1' latency.csv >runs/one/latency.csv
expect_done validate --microbench --data runs
grep -q 'warning: 2 measured rows are left out: latency: an unknown series; latency: nothing measured' stderr ||
  fail "rows are left out without a warning: $(cat stderr)"
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
cp origin.json runs/one/
rm runs/one/latency.csv
expect_error 2 "holds no measured CSV" validate --microbench --data runs
rm runs/one/origin.json
expect_error 2 "origin.json" validate --microbench --data runs

finish
