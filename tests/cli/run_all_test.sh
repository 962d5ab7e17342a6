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
finish
