#!/usr/bin/env bash
# run_all.sh without a GPU: programs and nvidia-smi are stand-ins, so what it refuses and what it leaves behind is seen.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run_all=$source_tree/validation/microbench/run_all.sh
mkdir -p path bin
cat >path/nvidia-smi <<'SH'
#!/usr/bin/env bash
case $* in
  *compute-apps*) ;;
  *compute_cap*) echo "${FAKE_GPU:-NVIDIA H100 80GB HBM3}, 9.0" ;;
  *) echo "facts of ${FAKE_GPU:-NVIDIA H100 80GB HBM3}" ;;
esac
SH
stand_in() {  # name, exit status, what it writes
  printf '#!/usr/bin/env bash\n[[ $1 == --help ]] && exit 0\necho "%s" >"$2"\nexit %s\n' "$3" "$2" >"bin/$1"
  chmod +x "bin/$1"
}
chmod +x path/nvidia-smi
stand_in origin 0 '{ \"gpu\": \"NVIDIA H100 80GB HBM3\" }'
stand_in alu 0 'rows'
measure() { PATH=$PWD/path:$PATH bash "$run_all" "$@" --bin "$PWD/bin" --only alu >stdout 2>stderr; }
state() { find run -type f -exec md5sum {} + 2>/dev/null | sort; }

# Without a GPU: no folder.
printf '#!/usr/bin/env bash\nexit 9\n' >path/no-gpu
chmod +x path/no-gpu
mkdir none
cp path/no-gpu none/nvidia-smi
PATH=$PWD/none:$PATH bash "$run_all" run --bin "$PWD/new-bin" >stdout 2>stderr
[[ $? -eq 1 && ! -e run && ! -e new-bin ]] || fail "no GPU: $(ls) $(cat stderr)"
grep -q 'no NVIDIA GPU answers' stderr || fail "no GPU: $(cat stderr)"

measure run || fail "a run: $(cat stderr)"
[[ $(cd run && echo *) == 'alu.csv nvidia_smi.csv origin.json' ]] || fail "a run leaves $(ls run)"
before=$(state)

FAKE_GPU="NVIDIA H200" measure run
[[ $? -eq 2 && $(state) == "$before" ]] || fail "another GPU's folder is written: $(cat stderr)"
grep -q "run holds a run of 'NVIDIA H100 80GB HBM3'; this GPU is 'NVIDIA H200'" stderr || fail "another GPU: $(cat stderr)"

stand_in alu 1 'half'
measure run
[[ $? -eq 1 ]] || fail "every program fails, exit 0"
rm -f run/alu.failed
[[ $(state) == "$before" ]] || fail "programs that fail change $(ls run)"

stand_in origin 1 'half'
measure run
[[ $? -eq 1 && $(state) == "$before" ]] || fail "origin fails: $(ls run) $(cat stderr)"
grep -q 'origin failed' stderr || fail "origin fails: $(cat stderr)"
measure fresh
[[ $? -eq 1 && ! -e fresh ]] || fail "origin fails: an empty folder is left"

# An earlier run's rows of a program that fails do not stay beside the new origin.json.
run_counters=$source_tree/validation/microbench/run_counters.sh
stand_in origin 0 '{ \"gpu\": \"NVIDIA H100 80GB HBM3\", \"new\": 1 }'
stand_in alu 0 'rows'
stand_in barrier 0 'old rows'
measure_two() { PATH=$PWD/path:$PATH bash "$run_all" two --bin "$PWD/bin" --only "alu barrier" >stdout 2>stderr; }
measure_two || fail "two programs: $(cat stderr)"
stand_in barrier 1 'half'
measure_two
[[ $? -eq 1 && ! -e two/barrier.csv && $(cat two/barrier.csv.before) == 'old rows' && -e two/alu.csv ]] ||
  fail "rows of a program that failed stay: $(ls two)"

# A signal ends the program that is under way too, and nothing half-written is left.
printf '#!/usr/bin/env bash\n[[ $1 == --help ]] && exit 0\necho half >"$2"\necho $$ >slow.pid\nexec sleep 50\n' >bin/slow
chmod +x bin/slow
for signal in TERM HUP; do
  rm -f slow.pid
  PATH=$PWD/path:$PATH bash "$run_all" stopped --bin "$PWD/bin" --only slow >stdout 2>stderr &
  script=$!
  for _ in {1..100}; do [[ -s slow.pid ]] && break || sleep 0.1; done
  kill -"$signal" "$script"
  wait "$script"
  [[ $? -eq 130 && ! -e stopped ]] || fail "$signal: exit $?, left $(ls stopped 2>&1)"
  kill -0 "$(cat slow.pid)" 2>/dev/null && fail "$signal: the program runs on"
done

# With counters: strata reads the folder as it is left, ncu's pages lie apart.
recorded=$source_tree/validation/data/h100-sxm5-80gb/microbench/run-a
printf '#!/usr/bin/env bash\n[[ $1 == --help ]] && exit 0\ncat "%s/origin.json" >"$2"\n' "$recorded" >bin/origin
for program in alu launch lrc lrc_lines tma_edges cta_ends first_touch hbm_traffic partial_stores; do
  cat >"bin/$program" <<SH
#!/usr/bin/env bash
[[ \$1 == --help ]] && exit 0
while [[ \$1 != --out ]]; do shift; done
[[ $program == alu ]] && exec cp "$recorded/alu.csv" "\$2"
{ echo bench,series,x,x_unit,value,unit
  cat "$source_tree"/validation/data/*/microbench/*/*_counters.csv | grep -m1 '^$program,' |
    awk -F, -v OFS=, '{ print \$1, \$2, \$3, \$4, 1, "clk" }'; } >"\$2"
SH
  chmod +x "bin/$program"
done
cat >path/ncu <<'SH'
#!/usr/bin/env bash
if [[ $1 == --query-metrics ]]; then
  printf '%s  Counter\n' sm__cycles_elapsed gpu__time_duration lts__t_sectors lts__t_requests_srcunit_tex lts__cycles_elapsed \
    lrc__xbar2lrc_requests_op_read dram__bytes_read
  exit 0
fi
[[ -z ${DENIED:-} ]] || { echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access the counters.'; exit 1; }
for last; do [[ $last == */bin/* ]] && break; shift; done
"$@" || exit 9
echo '==PROF== Connected to process 1'
printf '"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n"0","k","1,500"\n'
SH
chmod +x path/ncu
count() { PATH=$PWD/path:$PATH bash "$run_all" counted --bin "$PWD/bin" --only alu --counters >stdout 2>stderr; }
count || fail "counters: $(cat stderr)"
[[ $(grep -c . counted/empty_counters.csv) -eq 2 && -e counted/ncu/empty_ncu.csv && -e counted/ncu/lrc_under_ncu.csv ]] ||
  fail "counters leave $(ls counted counted/ncu)"
grep -q '^launch,.*,gpu__time_duration.sum,1500,ns' counted/empty_counters.csv || fail "counters: $(cat counted/empty_counters.csv)"
[[ -z $(find counted -name '*.part') ]] || fail "half-written files stay: $(find counted)"
expect_done validate --microbench --data counted --only alu
expect_done calibrate --data counted --no-score --no-fit --name counted --out counted.yaml

# Counters that may not be read: ncu's reason, and none of an earlier run stay.
DENIED=1 count
[[ $? -eq 1 ]] || fail "counters that may not be read: exit 0"
grep -q 'lrc failed: ERR_NVGPUCTRPERM - The user does not have permission' stderr || fail "no reason of ncu: $(cat stderr)"
[[ -z $(find counted -name '*_counters.csv') && -z $(find counted -name '*.part') ]] || fail "counters of an earlier run stay"
PATH=$PWD/path:$PATH bash "$run_counters" counted "$PWD/bin" lrcc >stdout 2>stderr
[[ $? -eq 2 ]] || fail "a misspelt profile is taken"
grep -q "there is no profile 'lrcc'; expected some of lrc lrc_units" stderr || fail "a misspelt profile: $(cat stderr)"
PATH=$PWD/path:$PATH bash "$run_counters" nowhere "$PWD/bin" >stdout 2>stderr
[[ $? -eq 2 && ! -e nowhere ]] || fail "counters into a folder that is none: $(cat stderr)"

finish
