#!/usr/bin/env bash
# Bad input: one clear line, exit 2, no output left.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

small=(--m 256 --n 256 --k 256)

# Names: the nearest is suggested.
expect_error 2 "h100-sxm5-80gb" run gemm "${small[@]}" --gpu h100-sxm5-80g
expect_error 2 "no/such/gpu.yaml" run gemm "${small[@]}" --gpu no/such/gpu.yaml
expect_error 2 "unknown kernel 'gem'.*'gemm'" run gem "${small[@]}"
expect_error 2 "unknown option '--dtypo'.*'--dtype'" run gemm "${small[@]}" --dtypo bf16
expect_error 2 "unknown option '--jsn'.*'--json'" run gemm "${small[@]}" --jsn out.json
expect_error 2 "unknown command 'rum'.*'run'" rum gemm
expect_error 2 "unknown command 'gpu'.*'gpus'" list gpu
expect_error 2 "unexpected argument 'extra'" run gemm "${small[@]}" extra
expect_error 2 "l2.size" run gemm "${small[@]}" --set l2.sise_bytes=100MiB
expect_error 2 "l2.ways" describe l2.wys
expect_error 2 "dtype" run gemm "${small[@]}" --dtype bf17
expect_error 2 "no command"
expect_error 2 "'gemm' is given twice" run gemm "${small[@]}" gemm
expect_error 2 "'run' is given twice" run gemm "${small[@]}" run
expect_error 2 "either 'gemm' or 'rowwise', not both" run gemm "${small[@]}" rowwise
expect_error 2 "--version does not go with a command; give it alone: .strata --version." run --version

# Values: wrong type, out of range, malformed.
expect_error 2 "l2.size_bytes" run gemm "${small[@]}" --set l2.size_bytes=large
expect_error 2 "l2.ways" run gemm "${small[@]}" --set l2.ways=-1
expect_error 2 "." run gemm "${small[@]}" --set l2.ways
expect_error 2 "sm-clock" run gemm "${small[@]}" --sm-clock -5
expect_error 2 "sm-clock" run gemm "${small[@]}" --sm-clock fast
for clock in 0 nan inf 1e400; do
  expect_error 2 "--sm-clock: '$clock': expected a number above 0" run gemm "${small[@]}" --sm-clock "$clock"
done
for clock in 1e30 10001; do
  expect_error 2 "--sm-clock: '$clock': expected a number above 0 and at most 10000" run gemm "${small[@]}" --sm-clock $clock
done
expect_error 2 "clocks.sm_max_mhz: .*1e30.* expected 100 to 3999 MHz" run gemm "${small[@]}" --set clocks.sm_max_mhz=1e30
expect_error 2 "l2.ways: is given twice" run gemm "${small[@]}" --set l2.ways=16 --set l2.ways=16
expect_error 2 "l2.size_bytes: is given twice" describe l2 --set l2.size=50MiB --set l2.size_bytes=40MiB
expect_error 2 "--max-error-cycles: 'nan'" validate --data x.csv --max-error-cycles nan
expect_error 2 "--functor: 'foo' is not known; expected one of copy" run elementwise --rows 64 --cols 64 --functor foo
for type in int4 tf32 fp64 bool int32; do
  expect_error 2 "--out-dtype: $type is no output of bf16 operands; expected one of fp32, fp16, bf16, fp8" \
    run gemm "${small[@]}" --out-dtype $type
done

expect_error 2 "--dtype: 'fp4' is not known; expected one of fp16, bf16, tf32, fp8, int8" run gemm "${small[@]}" --dtype fp4
expect_error 2 "--warp-m: 17 must be a multiple of 16 that divides tile-m" run gemm_mma_sync "${small[@]}" --warp-m 17
expect_error 2 "--stages: tile 128x128xd128 with 8 stages needs" run flash_attention --heads 2 --q-len 256 --stages 8
expect_error 2 "--sm-clock: '1e-9': expected 1 MHz or more" run gemm "${small[@]}" --sm-clock 1e-9
expect_error 2 "--exact: 'banana' is not a switch; expected on or off" run gemm "${small[@]}" --exact=banana
expect_error 2 "--metrics: '5' is not a switch; expected on or off" run gemm "${small[@]}" --metrics=5
expect_done run gemm "${small[@]}" --metrics=on
expect_error 2 "--m: 0 is out of range; expected 1 to 2147483647" run gemm --m 0 --n 2 --k 2 --kernel auto

# An empty value, as of a shell variable that is not set, is no silent default.
expect_error 2 "--dtype: the value is empty" run gemm "${small[@]}" --dtype ""
expect_error 2 "--json: the value is empty" run gemm "${small[@]}" --json ""
expect_error 2 "--kernel: the value is empty" run gemm "${small[@]}" --kernel ""
expect_error 2 "--gpu: the value is empty" run gemm "${small[@]}" --gpu ""
expect_error 2 "--causal: the value is empty" run flash_attention --heads 2 --q-len 64 --causal ""

# An option is no other's value, nor given twice.
expect_error 2 "--json: its value is missing; found the option --metrics" run gemm "${small[@]}" --json --metrics
expect_error 2 "--out: its value is missing; found the option --exact" predict --in x.csv --out --exact
expect_error 2 "--m: its value is missing; found the option --n" run gemm --m --n 128 --k 128
expect_error 2 "--gpu: its value is missing" run gemm "${small[@]}" --gpu
expect_error 2 "--exact is given twice; expected it once" run gemm "${small[@]}" --exact --exact=off
expect_error 2 "--m is given twice; expected it once" run gemm "${small[@]}" --m 2
expect_error 2 "--jobs is given twice; expected it once" predict --in x.csv --out o.csv -j 1 --jobs 2
expect_error 2 "--jobs: 'x': expected a whole number from 1 to 1024" predict --in x.csv --out o.csv -j x
expect_error 2 "l2.fetch_bytes: 48: must be 32 or 64" run gemm "${small[@]}" --set l2.fetch_bytes=48
expect_error 2 "'AUTO' is of no known family; did you mean 'auto'" run gemm "${small[@]}" --kernel AUTO

# No option is ignored.
nvjet=nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT
expect_error 2 "--tile-m: does not go with --kernel" run gemm "${small[@]}" --kernel auto --tile-m 64
expect_error 2 "--stages: does not go with --kernel" run gemm "${small[@]}" --kernel $nvjet --stages 3
expect_error 2 "--batch: does not go with --kernel" run gemm_mma_sync "${small[@]}" --kernel auto --batch 2
expect_error 2 "--kernel does not go with --trace" run --trace x.trace --kernel auto
expect_error 2 "--verbose needs --kernel auto" run gemm "${small[@]}" --verbose
expect_error 2 "--pipelined: is an option of --algorithm wgmma" \
  run flash_attention --heads 2 --q-len 64 --algorithm mma --pipelined off
expect_error 2 "--cluster-m: is an option of gemm_tma_wgmma; gemm_mma_sync runs here: the target has no wgmma" \
  run gemm "${small[@]}" --cluster-m 2 --gpu a100-sxm4-80gb
expect_error 2 "--stages: is an option of --copy async" run gemm_simt "${small[@]}" --copy registers --stages 4
expect_error 2 "--split-reduction: needs --split-k above 1" run gemm_simt "${small[@]}" --split-reduction inplace
expect_error 2 "--only needs --microbench" validate --data x.csv --only latency
expect_error 2 "--exact does not go with --microbench" validate --microbench --exact
expect_error 2 "--glance does not go with --auto" validate --data x.csv --auto --glance
expect_error 2 "--json does not go with --auto" validate --data x.csv --auto --json x.json

expect_error 2 "--kernel: nvjet: the name says bf16, --dtype says fp8" run gemm "${small[@]}" --kernel $nvjet --dtype fp8
flash='void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, 0, 0, cutlass::bfloat16_t>, 0, 0, 0, 0, 1, 1, 0, 0>()'
flash_run=(run flash_attention --heads 2 --q-len 256 --head-dim 64 --kernel "$flash")
expect_error 2 "the name says full attention, --causal says on" "${flash_run[@]}" --causal
expect_done "${flash_run[@]}" --causal off
expect_error 2 "the name says layout TN, --layout says NN" run gemm "${small[@]}" --kernel $nvjet --layout NN

# A sub-command runs no other's kernel: neither another generator's nor another operator's.
expect_error 2 "--kernel: is a kernel of gemm_tma_wgmma, not of gemm_mma_sync; expected .strata run gemm_tma_wgmma. or" \
  run gemm_mma_sync "${small[@]}" --kernel $nvjet
expect_error 2 "is a kernel of gemm_tma_wgmma, not of gemm_simt" run gemm_simt "${small[@]}" --dtype bf16 --kernel $nvjet
expect_error 2 "is a kernel of gemm_simt, not of gemm_tma_wgmma" \
  run gemm_tma_wgmma "${small[@]}" --kernel ampere_sgemm_64x32_sliced1x4_tn
expect_done run gemm_tma_wgmma "${small[@]}" --kernel $nvjet
expect_done run gemm "${small[@]}" --kernel ampere_sgemm_64x32_sliced1x4_tn
softmax='void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>(float*, float const*)'
expect_error 2 "--kernel: is a kernel of nvjet, not of rowwise; expected .strata run gemm." \
  run rowwise --rows 64 --cols 64 --kernel $nvjet
expect_error 2 "a kernel of nvjet, not of flash_attention; expected .strata run gemm." \
  run flash_attention --heads 2 --q-len 64 --kernel $nvjet
expect_error 2 "a kernel of softmax, not of gemm; expected .strata run rowwise." run gemm "${small[@]}" --kernel "$softmax"
expect_error 2 "a kernel of softmax, not of elementwise; expected .strata run rowwise." \
  run elementwise --rows 64 --cols 64 --kernel "$softmax"
expect_error 2 "--kernel: auto chooses among .* not of gemm_mma_sync alone; expected .strata run gemm." \
  run gemm_mma_sync "${small[@]}" --kernel auto

add='void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >()'
expect_error 2 "--inputs: does not go with --kernel" run elementwise --rows 64 --cols 64 --inputs 2 --kernel "$add"
expect_error 2 "the name says bf16, --dtype says fp32" run elementwise --rows 64 --cols 64 --dtype fp32 --kernel "$add"

for operator in softmax log_softmax layer_norm rms_norm; do
  expect_error 2 "--over: $operator does not use it" run rowwise --rows 64 --cols 64 --operator $operator --over cols
done
for operator in sum max argmax var; do
  expect_error 2 "--threads: $operator does not use it" run rowwise --rows 64 --cols 64 --operator $operator --threads 64
done

# --kernel auto: what is missing, wrong or beyond every kernel is said, each in its own words.
attention=(run flash_attention --heads 2 --q-len 64)
expect_error 2 "--k: is required" run gemm --m 64 --n 64 --kernel auto
expect_error 2 "--layout: 'XX' is not known" run gemm "${small[@]}" --layout XX --kernel auto
expect_error 2 "--causal: 'maybe' is not a switch" "${attention[@]}" --causal maybe --kernel auto
expect_error 2 "take bf16 and fp16, not fp8" "${attention[@]}" --dtype fp8 --kernel auto
expect_error 2 "the device has" run gemm --m 2000000000 --n 2000000000 --k 64 --kernel auto
expect_error 2 "take no int4" run gemm "${small[@]}" --dtype int4 --kernel auto
expect_error 2 "operators with a kernel are" run elementwise --rows 64 --cols 64 --inputs 3 --kernel auto
expect_done "${attention[@]}" --kernel auto # without --kv-len, as without --kernel

# GPU descriptions whose numbers no unit can hold.
expect_error 2 "l1.store_queue_sectors" run gemm "${small[@]}" --set l1.store_queue_sectors=7
expect_error 2 "hbm.channels_per_stack: 64: makes 640" run gemm "${small[@]}" --set hbm.channels_per_stack=64
expect_error 2 "l2.slices" run gemm "${small[@]}" --set l2.slices=640
expect_error 2 "tma.outstanding_bytes: 2047: tma.present = 1 needs 2048 or more" \
  run gemm "${small[@]}" --set tma.outstanding_bytes=2047
expect_done run gemm "${small[@]}" --set tma.outstanding_bytes=2048
cat "$source_tree/configs/gpus/h100-sxm5-80gb.yaml" - <<<$'---\nl2: {}' >two.yaml
expect_error 2 "two.yaml:[0-9]+:[0-9]+: begins a second document" run gemm "${small[@]}" --gpu two.yaml

# Shapes.
expect_error 2 "--block: 0 is out of range" run elementwise --rows 64 --cols 64 --block 0
expect_error 2 "--m" run gemm --m 0 --n 256 --k 256
expect_error 2 "--m" run gemm --m -4 --n 256 --k 256
expect_error 2 "--m" run gemm --m 99999999999999999999 --n 256 --k 256
expect_error 2 "--m" run gemm --m 12x --n 256 --k 256
expect_error 2 "--k" run gemm --m 256 --n 256
expect_error 2 "the device has" run gemm --m 1000000 --n 1000000 --k 1000000
expect_error 2 "shared memory" run gemm_tma_wgmma "${small[@]}" --tile-m 128 --tile-n 128 --tile-k 64 --stages 30
expect_error 2 "." run gemm_mma_sync "${small[@]}" --tile-m 512 --tile-n 512 --warp-m 512 --warp-n 512
expect_error 2 "." run gemm_tma_wgmma "${small[@]}" --gpu a100-sxm4-80gb
expect_error 2 "kv-heads" run flash_attention --heads 16 --kv-heads 3 --q-len 128
expect_error 2 "needs a kernel" run
expect_error 2 "needs a kernel" trace record --out x.trace

# Outputs that cannot be written are found before the simulation.
expect_error 2 "no/such/folder/out.json.*--json" run gemm "${small[@]}" --json no/such/folder/out.json
expect_error 2 "no/such/folder/out.csv.*--csv" run gemm "${small[@]}" --json out.json --csv no/such/folder/out.csv
expect_error 2 "is a directory" run gemm "${small[@]}" --html /
expect_error 2 "another option" run gemm "${small[@]}" --json same --csv same
expect_error 2 "another option" run gemm "${small[@]}" --json same --csv ./same
printf 'case,seq,op,dtype,shape,kernel\n' >read.csv
expect_error 2 "read.csv: --out: is also the input" predict --in read.csv --out ./read.csv
expect_error 2 "read.csv: --json: is also the input" validate --data read.csv --json read.csv
expect_error 2 "read.csv: --csv: is also the input" run --trace read.csv --csv read.csv
expect_error 2 "--out" trace record gemm "${small[@]}" --out no/such/folder/x.trace

# Nor does an output take the place of the GPU's description.
cp "$source_tree/configs/gpus/h100-sxm5-80gb.yaml" g.yaml
for option in --json --csv --html --timeline; do
  expect_error 2 "g.yaml: $option: is also the input" run gemm "${small[@]}" --gpu g.yaml $option g.yaml
done
expect_error 2 "g.yaml: --dot: is also the input" describe topology --gpu g.yaml --dot g.yaml
expect_error 2 "g.yaml: --out: is also the input" predict --in read.csv --gpu g.yaml --out g.yaml
expect_error 2 "g.yaml: --write-launches: is also the input" \
  predict --in read.csv --gpu g.yaml --out out.csv --write-launches g.yaml
expect_error 2 "g.yaml: --out: is also the input" trace record gemm "${small[@]}" --gpu g.yaml --out g.yaml
expect_error 2 "g.yaml: --out: is also the input" calibrate --data . --gpu g.yaml --out ./g.yaml
expect_error 2 "read.csv: --out: is also the input" calibrate --data . --kernels read.csv --out read.csv
for option in --json --html; do
  expect_error 2 "g.yaml: $option: is also the input" validate --data read.csv --gpu g.yaml $option g.yaml
done
# Nor of one that it extends.
printf 'schema: strata.gpu/1\nextends: g\n' >extends.yaml
for option in --json --csv --html --timeline; do
  expect_error 2 "g.yaml: $option: is also the input" run gemm "${small[@]}" --gpu extends.yaml $option g.yaml
done
expect_error 2 "g.yaml: --out: is also the input" predict --in read.csv --gpu extends.yaml --out g.yaml
expect_error 2 "g.yaml: --json: is also the input" validate --data read.csv --gpu extends.yaml --json g.yaml
cmp -s g.yaml "$source_tree/configs/gpus/h100-sxm5-80gb.yaml" || fail "an output took the place of g.yaml"

# Nor of the measurements in a folder, nor is it put among them.
mkdir -p runs/run-a && touch runs/run-a/latency.csv
for output in runs/run-a/latency.csv runs/run-a/../run-a/new.csv runs/new.html; do
  expect_error 2 "$output: --json: lies in runs, which is read" validate --microbench --data runs --json $output
  expect_error 2 "$output: --html: lies in ./runs, which is read" validate --microbench --data ./runs --html $output
  expect_error 2 "$output: --out: lies in runs, which is read" calibrate --data runs --out $output
done
expect_error 2 "runs: --json: lies in runs" validate --microbench --data runs --json runs
[[ ! -s runs/run-a/latency.csv ]] || fail "an output took the place of a measurement"

# CSV files.
header=case,seq,op,dtype,shape,kernel,grid_dim,sm_clock_mhz
put() { printf "$1" >in.csv; }
expect_error 2 "nothing.csv" predict --in nothing.csv --out out.csv
put ''
expect_error 2 "in.csv: is empty" predict --in in.csv --out out.csv
put "$header\ra,1,gemm,bf16,s,k,1x1x1,1700\r"
expect_error 2 "in.csv:1: holds a carriage return" predict --in in.csv --out out.csv
put 'case,seq,op,dtype,shape\na,1,gemm,bf16,s\n'
expect_error 2 "in.csv:1: .*'kernel'" predict --in in.csv --out out.csv
put "$header\na,1,gemm,bf16,s,k,1x1x1,nan\n"
expect_error 2 "in.csv:2: sm_clock_mhz: 'nan'" predict --in in.csv --out out.csv
put "$header\na,1,gemm,bf16,s,k,1x1,1700\n"
expect_error 2 "in.csv:2: grid_dim: '1x1'" predict --in in.csv --out out.csv
put "$header\na,1,gemm,bf16,\"1,2,k,1x1x1,\n"
expect_error 2 "in.csv:2: a quoted cell" predict --in in.csv --out out.csv
put "$header\na,1,gemm,bf16,1,2,3,TN,k,,\n"
expect_error 2 "in.csv:2: has 11 cells" predict --in in.csv --out out.csv
put "$header\na,1,gemm,bf16,s,k,1x1x1,\n"
expect_error 2 "no/such/out.csv" predict --in in.csv --out no/such/out.csv
expect_error 2 "jobs" predict --in in.csv --out out.csv -j 0
expect_error 2 "no measured column" validate --data in.csv
put "$header,sm_cycles\na,1,gemm,bf16,s,k,1x1x1,,0\n"
expect_error 2 "in.csv:2: sm_cycles: 0 is no time; leave the cell empty if unknown" validate --data in.csv
put "$header,sm_cycles\na,1,gemm,bf16,s,k,1x1x1,,1e300\n"
expect_error 2 "in.csv:2: sm_cycles: '1e300': expected at most 1e.14" validate --data in.csv
put "$header,sm_cycles\na,1,gemm,bf16,s,k,1x1x1,,1e-300\n"
expect_error 2 "in.csv:2: sm_cycles: '1e-300': expected at least 1" validate --data in.csv
put "$header,sm_cycles\na,1,gemm,bf16,s,k,1x1x1,,\n"
expect_error 2 "in.csv: has no measured value" validate --data in.csv
put "$header\n"
expect_error 2 "in.csv: has no launches" predict --in in.csv --out out.csv
for split in all foo Validation; do
  put "$header,sm_cycles,split\na,1,gemm,bf16,s,k,1x1x1,,5000,$split\n"
  expect_error 2 "in.csv:2: split: '$split': expected calibration, validation or an empty cell" validate --data in.csv
done
put "$header\na,1,gemm,bf16,s,k,0x1x1,\n"
expect_error 2 "in.csv:2: grid_dim: '0x1x1': expected 1 to" predict --in in.csv --out out.csv
put "case,seq,op,dtype,shape,kernel,smem_dyn,smem_static\na,1,gemm,bf16,s,k,200000,32449\n"
expect_error 2 "in.csv:2: smem_static: '32449': expected at most 32448 bytes beside the 200000 of dynamic shared memory" \
  predict --in in.csv --out out.csv
for clock in 0 1e30; do
  put "$header\na,1,gemm,bf16,s,k,1x1x1,$clock\n"
  expect_error 2 "in.csv:2: sm_clock_mhz: '$clock': expected 1 to 10000 MHz, or an empty cell" predict --in in.csv --out out.csv
done
for seq in first 1.5 9999999999; do
  put "$header\na,$seq,gemm,bf16,s,k,1x1x1,\n"
  expect_error 2 "in.csv:2: seq: '$seq'" predict --in in.csv --out out.csv
done
put "$header\na,-1,gemm,bf16,s,k,1x1x1,\n"
expect_error 2 "in.csv:2: seq: '-1' is not a number of zero or more" predict --in in.csv --out out.csv
put "$header\na,1,gemm,bf16,s,k,,\nb,1,gemm,bf16,s,k,,\na,1,gemm,bf16,s,k,,\na,2,gemm,bf16,s,k,,\n"
expect_done predict --in in.csv --out repeated.csv
grep -q "1 row repeats the case and seq of an earlier one: case 'a', seq '1'" stderr ||
  fail "no warning for a repeated row: $(cat stderr)"
expect_error 2 "--from: ncu needs a file: expected --from ncu FILE" predict --from ncu
expect_error 2 "--from: ncu needs a file: expected --from ncu FILE" predict --from ncu --out out.csv
put "$header\n" && gzip -f in.csv
expect_error 2 "in.csv.gz: is compressed" predict --in in.csv.gz --out out.csv

# Trace files.
expect_done trace record gemm --m 128 --n 128 --k 128 --out good.trace
expect_done trace verify good.trace
size=$(stat -c %s good.trace)
head -c $((size / 2)) good.trace >truncated.trace
expect_error 2 "truncated.trace" trace verify truncated.trace
expect_error 2 "truncated.trace" run --trace truncated.trace --json out.json
{ cat good.trace && echo more; } >appended.trace
expect_error 2 "appended.trace: the trace ends at byte $size; expected nothing behind it, found 5 more bytes" \
  trace verify appended.trace
cat good.trace good.trace >twice.trace
expect_error 2 "twice.trace: the trace ends at byte $size; .* found $size more bytes" run --trace twice.trace
cp good.trace flipped.trace
printf '\xff' | dd of=flipped.trace bs=1 seek=$((size / 2)) conv=notrunc status=none
cmp -s good.trace flipped.trace && printf '\x00' | dd of=flipped.trace bs=1 seek=$((size / 2)) conv=notrunc status=none
expect_error 2 "flipped.trace" trace verify flipped.trace
printf 'not a trace' >text.trace
expect_error 2 "text.trace" run --trace text.trace
expect_error 2 "has no wgmma" run --trace good.trace --set tensor.wgmma_present=0
expect_error 2 "has no TMA unit" run --trace good.trace --set tma.present=0
expect_error 2 "missing.trace" trace info missing.trace
expect_error 2 "not both" run gemm "${small[@]}" --trace good.trace

# Inputs are read more than once, which pipes and devices do not allow; a pipe that nobody writes to would hang.
mkfifo pipe pipe.yaml
expect_no_pipe() { expect_error 2 "is a (pipe|device|directory); expected a regular file" "$@"; }
expect_no_pipe predict --in pipe --out out.csv
expect_no_pipe predict --in /dev/null --out out.csv
expect_no_pipe predict --from ncu pipe
expect_no_pipe predict --from kineto pipe
expect_no_pipe predict --from kineto .
expect_no_pipe validate --data pipe
expect_no_pipe trace info pipe
expect_no_pipe trace verify pipe
expect_no_pipe run --trace pipe
expect_no_pipe run gemm "${small[@]}" --gpu pipe.yaml
expect_error 2 "/dev/fd/[0-9]+: is a pipe; expected a regular file" predict --in <(cat read.csv) --out out.csv

# Nor is a pipe that nobody reads an output.
expect_unread() { expect_error 2 "pipe: $1: is a pipe that nobody reads; an output needs a regular file" "${@:2}"; }
for option in --json --csv --html --timeline; do
  expect_unread $option run gemm "${small[@]}" $option pipe
done
expect_unread --out trace record gemm "${small[@]}" --out pipe
expect_unread --out predict --in read.csv --out pipe
expect_unread --write-launches predict --in read.csv --out out.csv --write-launches pipe
"$strata" run gemm "${small[@]}" --csv >(cat >through_pipe.csv) >stdout || fail "a pipe that is read is refused"

# A grid and a shape that contradict each other: the grid is what was launched, and a warning tells.
expect_contradiction() {  # WARNING COLUMNS CELLS
  put "case,seq,op,dtype,shape,kernel,$2\na,1,$3\n"
  expect_done predict --in in.csv --out contradiction.csv
  grep -q "1 row contradicts itself or leaves open what ran: $1" stderr || fail "no warning '$1': $(cat stderr)"
}
expect_contradiction "case 'a', seq '1': a grid of 100 CTAs covers" grid_dim \
  "add,bf16,\"64,64\",\"$add\",100x1x1"
expect_contradiction ".*a block of 383 threads; the kernel's own 384 are simulated" block_dim,cluster_dim \
  "gemm,bf16,\"256,256,256,TN\",$nvjet,383x1x1,"
expect_contradiction ".*a cluster of 1x1x1 CTAs; the kernel's own .* is simulated" block_dim,cluster_dim \
  "gemm,bf16,\"256,256,256,TN\",$nvjet,,1x1x1"
expect_contradiction ".*a shape of layout NN; the TN of the kernel's name is simulated" block_dim,cluster_dim \
  "gemm,bf16,\"256,256,256,NN\",$nvjet,,"
expect_contradiction ".*a shape of causal attention; the full one of the kernel's name is simulated" block_dim,cluster_dim \
  "attention,bf16,\"1,2,2,256,256,64,1,flash\",\"$flash\",,"
expect_contradiction ".*operands of fp16; the bf16 of the kernel's name is simulated" block_dim,cluster_dim \
  "attention,fp16,\"1,2,2,256,256,64,0,flash\",\"$flash\",,"
expect_contradiction ".*operands of fp32; the bf16 of the kernel's name is simulated" block_dim,cluster_dim \
  "add,fp32,\"64,64\",\"$add\",,"
expect_contradiction ".*a grid of 131 CTAs; the kernel's own 130 are simulated" grid_dim \
  "gemm,bf16,\"4096,4096,4096,TN\",$nvjet,131x1x1"
expect_contradiction ".*a kernel to choose beside block_dim, regs of another; the chosen kernel's own are simulated" \
  block_dim,regs "add,bf16,\"64,64\",auto,128x1x1,40"
expect_contradiction ".*32 registers a thread and 200000 B of shared memory, of which an SM holds 1 CTAs; the kernel's own" \
  regs,smem_dyn "add,bf16,\"64,64\",\"$add\",32,200000"
put "$header\na,1,gemm,bf16,\"256,256,256,TN\",$nvjet,,9000\n"
expect_done predict --in in.csv --out clock.csv
grep -q "1 row has an sm_clock_mhz above the GPU's highest, which is simulated: .* 9000 MHz; 1980 are simulated" stderr ||
  fail "no warning for a clock above the highest: $(cat stderr)"
put "$header\na,1,gemm,bf16,\"256,256,256,TN\",${nvjet/_coopA/_coopA_bias},,\n"
expect_done predict --in in.csv --out word.csv
grep -q "1 row has words in its kernel's name that have no effect in the model: .*: 'bias'" stderr ||
  fail "no warning for an unknown word: $(cat stderr)"
put "case,seq,op,dtype,shape,kernel,grid_xx\na,1,gemm,bf16,\"256,256,256,TN\",$nvjet,1x1x1\n"
expect_done predict --in in.csv --out column.csv --json column.json
[[ $(grep -c "warning: in.csv: column 'grid_xx' is not read; did you mean 'grid_dim'?" stderr) -eq 1 ]] ||
  fail "no warning for a misspelt column: $(cat stderr)"
grep -q "did you mean 'grid_dim'" column.json || fail "the warning is not in --json: $(cat column.json)"
# A warning that nobody can read does not take the answer along.
"$strata" predict --in in.csv --out unread.csv >stdout 2>&- || fail "exit $? with standard error closed"
grep -q '^a,1,ok' unread.csv || fail "no answer with standard error closed: $(cat unread.csv)"
expect_contradiction ".*an op of 'gem'; the gemm of the kernel's name is simulated" block_dim,cluster_dim \
  "gem,bf16,\"256,256,256,TN\",$nvjet,,"
for op in gem:gemm ADD:add; do
  put "case,seq,op,dtype,shape,kernel\na,1,${op%:*},bf16,\"64,64\",auto\n"
  expect_done predict --in in.csv --out op.csv
  grep -q "did you mean '${op#*:}'?" op.csv || fail "no nearest operator of ${op%:*}: $(cat op.csv)"
done

# A cell that is no value at all is refused; a value that no kernel has makes its row unsupported.
expect_refused() {  # PATTERN OP DTYPE SHAPE
  put "case,seq,op,dtype,shape,kernel\na,1,$2,$3,\"$4\",auto\n"
  expect_error 2 "in.csv:2: $1" predict --in in.csv --out refused.csv
}
expect_refused "dtype: 'bf17' is not a data type; expected one of fp64.*did you mean 'bf16'" gemm bf17 256,256,256,TN
expect_refused "shape: '256,256,abc,TN': expected .batch,.M,N,K,layout with a whole number as cell 3, found 'abc'" \
  gemm bf16 256,256,abc,TN
expect_refused "shape: '256,256,256,TX': .* NN, NT, TN or TT as cell 4, found 'TX'" gemm bf16 256,256,256,TX
expect_refused "shape: .*: expected batch,heads,.* with 0 or 1 as cell 7, found '2'" attention bf16 1,2,2,64,64,64,2,flash
expect_refused "shape: '64,x': expected rows,cols with a whole number as cell 2, found 'x'" add bf16 64,x
expect_unsupported() {  # REASON OP DTYPE SHAPE
  put "case,seq,op,dtype,shape,kernel\na,1,$2,$3,\"$4\",auto\n"
  expect_done predict --in in.csv --out unsupported.csv
  grep -qE "^a,1,unsupported,.*$1" unsupported.csv || fail "no reason '$1': $(cat unsupported.csv)"
}
expect_unsupported "cell 2 is '0', not a positive" gemm bf16 256,0,256,TN
expect_unsupported "take no fp64" gemm fp64 256,256,256,TN
expect_unsupported "'int64' is not a data type" add int64 64,64
expect_unsupported "backend 'flsh' is not known; did you mean 'flash'" attention bf16 1,2,2,64,64,64,0,flsh
expect_unsupported "backend 'math' is a sequence of kernels.*a row" attention bf16 1,2,2,64,64,64,0,math
put "case,seq,op,dtype,shape,kernel\na,1,gemm,bf16,256,256,256,TN,auto\n"
expect_error 2 "in.csv:2: has 9 cells; the header has 6; a cell that holds commas needs quotes" \
  predict --in in.csv --out refused.csv

# A CUTLASS product whose parts the next launch adds up was split, though its row has no grid.
cutlass='void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_64x64_32x6_tn_align8>(T1::Params)'
sum='void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, 0, float, __nv_bfloat16, __nv_bfloat16, 1, 0, 0, 0>()'
split() {  # CELLS: of the product behind its kernel
  local cells='gemm,bf16,"64,64,4096,TN"'
  put "case,seq,op,dtype,shape,kernel,grid_dim\na,0,$cells,\"$cutlass\",$1\na,1,$cells,\"$sum\",\n"
  expect_done predict --in in.csv --out split.csv
}
split ""
grep -q '^a,0,unsupported,"\?cutlass_gemm: K was split (a splitKreduce launch follows); record grid_dim' split.csv ||
  fail "a split product without a grid is predicted: $(cat split.csv)"
grep -q '^a,1,unsupported' split.csv || fail "its sum is predicted: $(cat split.csv)"
split '"(1, 1, 8)"'
[[ $(grep -c '^a,[01],ok' split.csv) -eq 2 ]] || fail "with its grid it is not predicted: $(cat split.csv)"
put "case,seq,op,dtype,shape,kernel\na,1,gemm,bf16,\"256,256,256,TN\",$nvjet\n"

# More threads than cores are not asked for.
expect_done predict --in in.csv --out foo.csv -j 1024
[[ ! -s stderr ]] || fail "-j 1024 prints: $(cat stderr)"

finish
