#!/usr/bin/env bash
# Runs clang-tidy over the project's sources, those that changed last first, until the budget is spent.
#   scripts/tidy.sh BUILD_DIR [SECONDS]      BUILD_DIR holds compile_commands.json
# Fails when a file has findings. Files the budget did not reach are counted, never silently skipped.
set -euo pipefail
build=$1
budget=${2:-3600}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

known=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json")
mapfile -t files < <(
  { git log -n 30 --name-only --format= -- '*.cpp'; git ls-files -- '*.cpp'; } | awk '!seen[$0]++' |
    while read -r file; do
      if [[ "$file" != tests/* && -f "$file" ]] && grep -qxF "$PWD/$file" <<<"$known"; then echo "$file"; fi
    done
)

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
deadline=$((SECONDS + budget))
check() {
  local file=$1
  if [[ $SECONDS -ge $2 ]]; then
    touch "$4/$3.late"
  elif ! clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$5" "$file" >"$4/$3.out" 2>/dev/null; then
    touch "$4/$3.failed"
  fi
}
running=0
for i in "${!files[@]}"; do
  check "${files[$i]}" "$deadline" "$i" "$log" "$build" &
  running=$((running + 1))
  if [[ $running -ge $(nproc) ]]; then
    wait -n || true
    running=$((running - 1))
  fi
done
wait

shopt -s nullglob
failed=("$log"/*.failed)
late=("$log"/*.late)
for file in "${failed[@]}"; do
  cat "${file%.failed}.out"
done
echo "clang-tidy: ${#files[@]} files, ${#failed[@]} with findings, ${#late[@]} not reached within ${budget} s"
[[ ${#failed[@]} -eq 0 ]]
