#!/usr/bin/env bash
# --kernel auto: an operator without a kernel gets the library's fastest, as predicted.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat >open.csv <<'CSV'
case,seq,op,dtype,shape,kernel
g,1,gemm,bf16,"8,1024,2048,TN",auto
g,2,gemm,bf16,"8,1024,2048,TN",
r,1,softmax,bf16,"64,1024",auto
a,1,attention,bf16,"1,8,8,1,1024,128,0",auto
x,1,fft,bf16,"64,1024",auto
n,1,gemm,,"64,64,64,TN",auto
CSV
expect_done predict --in open.csv --out one.csv -j 1
expect_done predict --in open.csv --out two.csv -j 2
# sim_seconds is the only column that may differ
seconds=$(head -1 one.csv | tr ',' '\n' | grep -n '^sim_seconds$' | cut -d: -f1)
cmp -s <(tr -d '"' <one.csv | cut -d, -f"$seconds" --complement | grep ^[gx]) \
  <(tr -d '"' <two.csv | cut -d, -f"$seconds" --complement | grep ^[gx]) || fail "the choice depends on -j"
grep -q '^g,1,ok,.*nvjet_sm90_tst_' one.csv || fail "no nvjet kernel was chosen: $(cat one.csv)"
grep -q '^g,2,ok,.*nvjet_sm90_tst_' one.csv || fail "an empty kernel is not chosen"
grep -q '^r,1,ok,.*softmax_warp_forward' one.csv || fail "no softmax kernel was chosen"
grep -q '^a,1,ok,' one.csv || fail "no attention kernel was chosen"
grep -q '^x,1,unsupported,.*no kernel is known for fft' one.csv || fail "an unknown operator is not refused"
grep -q "^n,1,unsupported,.*give dtype" one.csv || fail "a missing type is not refused"

expect_done predict --in open.csv --out a100.csv --gpu a100-sxm4-80gb
grep -q '^g,1,ok,.*s16816gemm' a100.csv || fail "no Ampere kernel was chosen: $(cat a100.csv)"

expect_done run gemm --m 8 --n 1024 --k 2048 --kernel auto --verbose
grep -q 'chose nvjet_sm90_.*, the fastest of .* possible kernels' stdout || fail "the choice is not named"
grep -q 'candidate nvjet_sm90_.* us, estimated' stdout || fail "--verbose does not list candidates"
expect_done run rowwise --operator softmax --rows 64 --cols 1024 --kernel auto --json out.json
grep -q 'the fastest of 1 simulated' out.json || fail "--json does not name the choice"
expect_done run elementwise --rows 64 --cols 1024 --inputs 2 --kernel auto
grep -q 'vectorized_elementwise_kernel<8, .*CUDAFunctor_add' stdout || fail "run elementwise does not choose add's kernel"

# The choice beside the library's: rows of the validation split are left out.
cat >measured.csv <<'CSV'
case,seq,op,dtype,shape,kernel,sm_cycles,split
s,1,softmax,bf16,"64,1024","void softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, 0, 0>()",9000,calibration
v,1,softmax,bf16,"32,1024","void softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, 0, 0>()",9000,validation
x,1,sum,bf16,"64,1024","void at::reduce_kernel<512, 1, at::ReduceOp<float> >()",9000,calibration
CSV
expect_done validate --auto --data measured.csv
grep -qE '^s .* 1.000 +same ' stdout || fail "validate --auto does not see that the kernels are the same: $(cat stdout)"
grep -q '^1 operators: 1 with' stdout || fail "validate --auto does not leave out the validation split: $(cat stdout)"
grep -q '^left out: x: no kernel is known for sum' stdout || fail "validate --auto does not say what it left out"

# A kernel of another generation: the row says how to get one of this GPU's own.
cat >hopper.csv <<'CSV'
case,seq,op,dtype,shape,kernel
g,1,gemm,bf16,"512,512,512,TN",nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_TNN
CSV
expect_done predict --in hopper.csv --out hopper.out --gpu a100-sxm4-80gb
grep -q 'unsupported,.*needs wgmma and TMA.*with auto as its kernel' hopper.out || fail "no way out is named: $(cat hopper.out)"

# What would take many minutes to choose is refused at once.
cat >large.csv <<'CSV'
case,seq,op,dtype,shape,kernel
k,1,gemm,bf16,"1,1,2000000000,TN",auto
c,1,gemm,bf16,"100000,100000,100000,TN",auto
CSV
expect_done predict --in large.csv --out large.out
[[ $(grep -c ',unsupported,.*too large to choose its kernel' large.out) -eq 2 ]] || fail "a huge choice is begun: $(cat large.out)"

expect_error 2 "nonsense.* is of no known family" run gemm --m 8 --n 8 --k 8 --kernel nonsense
finish
