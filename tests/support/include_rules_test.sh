#!/usr/bin/env bash
# The include-rule check accepts a clean tree and names each kind of offence.
set -euo pipefail
check="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/include_rules.sh"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

put() {
  mkdir -p "$tree/$(dirname "$1")"
  printf '%s\n' "$2" >"$tree/$1"
}
expect_broken() {
  if out=$("$check" "$tree"); then
    echo "accepted: $1"
    exit 1
  fi
  if ! grep -qF "$1" <<<"$out"; then
    printf 'expected "%s" in:\n%s\n' "$1" "$out"
    exit 1
  fi
}

for folder in sim models workloads validation; do mkdir -p "$tree/$folder"; done
put models/hw/l2/l2.cpp '#include "models/hw/common/request.hpp"'
put sim/config/reader.cpp '#include <yaml-cpp/yaml.h>'
"$check" "$tree" >/dev/null

put models/hw/l2/bad.hpp '#include "models/hw/hbm/hbm.hpp"'
expect_broken 'models/hw/l2/bad.hpp:1: models/hw/l2 may not include models/hw/hbm/hbm.hpp'
rm "$tree/models/hw/l2/bad.hpp"

put workloads/kernels/bad.cpp '#include "models/hw/system/simulator.hpp"'
expect_broken 'workloads/kernels may not include models/hw/system/simulator.hpp'
rm "$tree/workloads/kernels/bad.cpp"

put sim/result/bad.cpp '#include <yaml-cpp/yaml.h>'
expect_broken 'sim/result may not include yaml-cpp/yaml.h; only these may: sim/config'
rm "$tree/sim/result/bad.cpp"

put sim/new/bad.cpp '#include <vector>'
expect_broken 'sim/new/bad.cpp:1: the folder is not in the table'
