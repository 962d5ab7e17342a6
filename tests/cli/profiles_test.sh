#!/usr/bin/env bash
# predict --from: profiles as their tools print them become launches, predictions and totals.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

profiles=$source_tree/validation/data/h100-sxm5-80gb/profiles
trace=$profiles/kineto_llama2-7b_decode_layer.json

expect_done predict --from kineto "$trace" --out out.csv --write-launches launches.csv
[[ $(wc -l <out.csv) -eq 26 ]] || fail "kineto: $(wc -l <out.csv) lines instead of 26"
grep -q 'profiled on NVIDIA H100 80GB HBM3' stdout || fail "the GPU of the profile is not named"
grep -qE '^nvjet +4 ' stdout || fail "no total of nvjet: $(cat stdout)"
grep -qE '^all predicted +23 ' stdout || fail "no total of all: $(cat stdout)"
grep -q '2 of them.*CatArrayBatchedCopy' stdout || fail "unsupported launches are not listed: $(cat stdout)"

# The launches written are what was predicted, and can be scored.
expect_done predict --in launches.csv --out again.csv
cmp -s <(cut -d, -f1-3,5-17 out.csv | tr -d '"') <(cut -d, -f1-3,5-17 again.csv | tr -d '"') ||
  fail "launches.csv is predicted otherwise than the trace it comes from"
expect_done validate --data launches.csv
grep -q nvjet stdout || fail "validate does not score launches.csv"

expect_done predict --from ncu "$profiles/ncu_raw.csv"
grep -qE '^splitk_sum +1 ' stdout || fail "ncu: no total of splitk_sum: $(cat stdout)"

# A profile of another GPU is warned of, once.
[[ ! -s stderr ]] || fail "a profile of the same GPU prints: $(cat stderr)"
expect_done predict --from ncu "$profiles/ncu_raw.csv" --gpu a100-sxm4-80gb --json other.json
[[ $(grep -c "was recorded on a GPU of compute capability 9.0, not 8.0; a100-sxm4-80gb is simulated" stderr) -eq 1 ]] ||
  fail "no warning for a profile of another GPU: $(cat stderr)"
[[ $(grep -c "us: nvjet: needs wgmma and TMA, which this GPU has not$" stdout) -eq 1 ]] ||
  fail "what kernels of Hopper need takes other than one line: $(cat stdout)"
grep -q "leave their kernel cells empty" stdout || fail "no word of an equivalent: $(cat stdout)"
grep -q 'compute capability 9.0, not 8.0' other.json || fail "the warning is not in --json: $(cat other.json)"

# A launch without a shape says what to record.
sed 's/gemm_bf16_TN_1x11008x4096/step/' "$profiles/ncu_raw.csv" >unnamed.csv
expect_done predict --from ncu unnamed.csv --out unnamed_out.csv
grep -q 'unsupported.*NVTX range' unnamed_out.csv || fail "a launch without a shape does not say what to record"

# A time that is not recorded is unknown, not zero.
sed -E 's/"dur": *[0-9.]+,?//' "$trace" >untimed.json
expect_done predict --from kineto untimed.json
grep -qE '^all predicted +23 +[0-9.]+ +unknown$' stdout || fail "times that are not recorded are shown: $(cat stdout)"
grep -qE '^unsupported +2 +unknown$' stdout || fail "times that are not recorded are shown: $(cat stdout)"
grep -q '2 of them, time unknown: ' stdout || fail "times that are not recorded are shown: $(cat stdout)"

# Nor is a launch that the CSV would refuse written to one.
sed 's/(384, 1, 1)/(5000, 1, 1)/' "$profiles/ncu_raw.csv" >impossible.csv
expect_error 2 "impossible.csv:[0-9]+: Block Size: '.5000, 1, 1.': expected 1 to 1024 threads" \
  predict --from ncu impossible.csv --write-launches refused.csv

expect_error 2 "either --in FILE or --from" predict --out out2.csv
expect_error 2 "either --in FILE or --from" predict --in launches.csv --from ncu launches.csv
expect_error 2 "needs --out" predict --in launches.csv
expect_error 2 "'nsys'.*expected ncu or kineto" predict --from nsys x.csv
expect_error 2 "nothing.json: cannot be opened" predict --from kineto nothing.json
expect_error 2 "unnamed.csv:1:1: is not JSON" predict --from kineto unnamed.csv
expect_error 2 "no header" predict --from ncu "$trace"
head -c 9000 "$trace" >cut.json
expect_error 2 "cut.json:[0-9]+:[0-9]+: .*cut short" predict --from kineto cut.json --out out2.csv
expect_error 2 "another option" predict --from kineto "$trace" --out same --write-launches same

finish
