#!/usr/bin/env bash
# Same inputs, same bytes: JSON of two runs, predictions with any -j, a replayed trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

gemm=(gemm --m 1024 --n 1024 --k 512)
expect_done run "${gemm[@]}" --json first.json --csv first.csv --html first.html
expect_done run "${gemm[@]}" --json second.json --csv second.csv --html second.html
for kind in json csv html; do
  cmp "first.$kind" "second.$kind" || fail "two runs differ in $kind"
done
"$strata" run "${gemm[@]}" --json - >stdout.json 2>/dev/null || fail "run --json -"
cmp first.json stdout.json || fail "--json - differs from --json FILE"

# A recorded trace gives the same metrics as the kernel it was recorded from.
expect_done trace record "${gemm[@]}" --out gemm.trace
expect_done run --trace gemm.trace --json replay.json
metrics() { sed -n '/"metrics"/,/}/p' "$1"; }
[[ -n "$(metrics first.json)" ]] || fail "no metrics in the JSON"
diff <(metrics first.json) <(metrics replay.json) >/dev/null || fail "the replay's metrics differ"

# Launches: duplicates, quotes, CRLF, empty cells, unsupported kernels; any -j gives the same rows in the same order.
{
  printf 'case,seq,op,dtype,shape,kernel,grid_dim,block_dim,cluster_dim,regs,smem_dyn,smem_static,sm_clock_mhz,ignored\r\n'
  for i in 1 2 3; do
    printf '"gemm, %d",%d,gemm,bf16,"512,512,512,TN",nvjet_sm90_tst_128x64_64x8_1x2_h_bz_TNT,2x66x1,384x1x1,2x1x1,168,200000,0,1700,7\r\n' "$i" "$i"
    printf 'add,%d,add,bf16,"1024,1024","void at::vectorized_elementwise_kernel<8, at::CUDAFunctor_add<c10::BFloat16>, std::array<char *, 3>>(int, T2, T3)",1024x1x1,128x1x1,0x0x0,,,,,\r\n' "$i"
    printf 'odd,%d,gemm,bf16,"1,2,3,TN",a_kernel_nobody_knows,,,,,,,,\r\n' "$i"
  done
} >launches.csv
expect_done predict --in launches.csv --out one.csv -j 1
expect_done predict --in launches.csv --out two.csv -j 2
expect_done predict --in launches.csv --out many.csv -j 7
without_seconds() { awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "sim_seconds") at = NF - i } { $(NF - at) = ""; print }' "$1"; }
diff <(without_seconds one.csv) <(without_seconds two.csv) || fail "-j 1 and -j 2 differ"
diff <(without_seconds one.csv) <(without_seconds many.csv) || fail "-j 1 and -j 7 differ"
[[ $(wc -l <one.csv) -eq 10 ]] || fail "not one row per launch"
[[ $(grep -c ',unsupported,' one.csv) -eq 3 ]] || fail "unsupported rows: $(cat one.csv)"
[[ $(grep -c ',ok,' one.csv) -eq 6 ]] || fail "supported rows: $(cat one.csv)"
grep -q '^"gemm, 2",2,ok,' one.csv || fail "the case name is not copied as it was"
[[ $(sed -n 's/^"gemm, [0-9]",[0-9],//p' one.csv | sort -u | wc -l) -eq 1 ]] || fail "duplicates differ"

finish
