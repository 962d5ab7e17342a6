#!/usr/bin/env bash
# Signals, closed and full streams: nothing half-written, no answer lost in silence.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

small=(--m 64 --n 64 --k 64)
# Minutes, were it not ended: every signal comes while it runs.
long=(gemm --m 16384 --n 16384 --k 16384)

# expect_ended SIGNAL ARGUMENTS...: a run that SIGNAL ends dies of it and leaves no file.
expect_ended() {
  local signal=$1 tries status
  shift
  "$strata" "$@" >stdout 2>stderr </dev/null &
  local process=$!
  for tries in {1..200}; do
    compgen -G "*.tmp.*" >/dev/null && break
    sleep 0.05
  done
  compgen -G "*.tmp.*" >/dev/null || fail "no temporary file after $tries looks: strata $*"
  kill -s "$signal" "$process"
  wait "$process" 2>/dev/null
  status=$?
  [[ $status -eq $((128 + $(kill -l "$signal"))) ]] || fail "exit $status after SIG$signal: strata $*"
  for left in "out*" "*.tmp.*"; do
    compgen -G "$left" >/dev/null && fail "files left after SIG$signal: $(compgen -G "$left")" && rm -f $left
  done
}
for signal in TERM HUP; do
  expect_ended $signal run "${long[@]}" --exact --json out.json --csv out.csv
  expect_ended $signal trace record "${long[@]}" --out out.trace
done
# What stood there before stays.
echo old >kept.json
expect_ended TERM run "${long[@]}" --exact --json kept.json
[[ $(cat kept.json) == old ]] || fail "an interrupted run changed the file it was to replace"

# On a terminal a progress line appears after two seconds, also while a single CTA or candidate takes minutes; elsewhere
# there is none.
for words in "run gemm --m 1 --n 1 --k 2147483640" "run gemm --m 1 --n 1 --k 400000000 --kernel auto" \
  "run rowwise --rows 1 --cols 2147483648"; do
  script -qec "timeout --foreground 5 $strata $words" /dev/null </dev/null >terminal 2>/dev/null
  grep -q 'run: .*\(finished\|simulated\)' terminal || fail "no progress on a terminal: strata $words: $(head -c 400 terminal)"
done
nvjet=nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT
printf 'case,seq,op,dtype,shape,kernel,sm_cycles\nlong,0,gemm,bf16,"16384,16384,16384,TN",%s,1\n' $nvjet >long.csv
for command in "predict --in long.csv --out predicted.csv" "validate --data long.csv"; do
  script -qec "timeout --foreground 5 $strata $command --exact" /dev/null </dev/null >terminal 2>/dev/null
  grep -q '\(predict\|validate\): .*simulat' terminal || fail "no progress on a terminal: strata $command: $(head -c 400 terminal)"
done
# shellcheck disable=SC2086
timeout 4 "$strata" $words >stdout 2>stderr
[[ ! -s stderr ]] || fail "progress where there is no terminal: $(head -c 400 stderr)"

# A report that cannot be written is an error, also where only standard output is asked for.
for words in "list gpus" "describe l2" "run gemm ${small[*]}" "run gemm ${small[*]} --json -"; do
  # shellcheck disable=SC2086
  "$strata" $words >/dev/full 2>stderr
  status=$?
  [[ $status -eq 2 ]] || fail "exit $status with a full standard output: strata $words"
  grep -q "standard output" stderr || fail "no word of standard output: strata $words: $(cat stderr)"
done

# Nor does a file appear whose report could not be written.
printf 'case,seq,op,dtype,shape,kernel\na,1,add,bf16,"64,64",auto\n' >few.csv
for words in "run gemm ${small[*]} --json unreported" "predict --in few.csv --out unreported" \
  "trace record gemm ${small[*]} --out unreported" "describe topology --dot unreported"; do
  # shellcheck disable=SC2086
  "$strata" $words >/dev/full 2>stderr
  status=$?
  [[ $status -eq 2 ]] || fail "exit $status with a full standard output: strata $words"
  [[ ! -e unreported ]] || fail "a file without its report: strata $words"
  rm -f unreported
done
"$strata" run gemm "${small[@]}" --json /dev/stdout >by_name.json 2>stderr || fail "/dev/stdout: $(cat stderr)"
"$strata" run gemm "${small[@]}" --json - >by_dash.json 2>stderr
cmp -s by_name.json by_dash.json || fail "/dev/stdout is not standard output"

# Closed streams: the report does not land in the file that was opened instead; without its report there is none.
"$strata" run gemm "${small[@]}" --json closed.json >&- 2>stderr
status=$?
[[ $status -eq 2 ]] || fail "exit $status with a closed standard output"
[[ ! -e closed.json ]] || fail "a file without its report with a closed standard output"
"$strata" run gemm "${small[@]}" --json whole.json >/dev/null 2>&- <&-
cmp -s by_dash.json whole.json || fail "closed streams changed the JSON"

# A limit on the size of files is an error of the write.
(
  ulimit -f 1
  "$strata" run gemm "${small[@]}" --html limited.html >/dev/null 2>stderr
  [[ $? -eq 2 ]]
) || fail "a file-size limit is no input error: $(cat stderr)"
grep -q "limited.html: --html: cannot be written: File too large" stderr || fail "$(cat stderr)"
[[ ! -e limited.html ]] || fail "a file cut off by a limit was kept"

# Links and permissions of a file that is replaced stay.
mkdir -p real
echo old >real/target.json
chmod 600 real/target.json
ln -s real/target.json link.json
expect_done run gemm "${small[@]}" --json link.json
[[ -L link.json ]] || fail "the link was replaced by a file"
[[ $(stat -c %a real/target.json) == 600 ]] || fail "permissions changed to $(stat -c %a real/target.json)"
cmp -s real/target.json whole.json || fail "the link's target was not written"

finish
