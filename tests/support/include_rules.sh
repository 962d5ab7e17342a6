#!/usr/bin/env bash
# Checks who may include whom (the design's folder table). Prints each broken rule with file and line; exits 1.
#   include_rules.sh SOURCE_TREE
set -euo pipefail
cd "$1"

sim="sim/base sim/event sim/timing sim/stats sim/config sim/topology sim/observe sim/result"

# folder | project folders it may include besides itself
rules() {
  cat <<TABLE
sim/base|
sim/event|sim/base
sim/timing|sim/base sim/event
sim/stats|sim/base
sim/config|sim/base
sim/topology|sim/base sim/config
sim/observe|sim/base sim/event
sim/result|sim/base sim/stats sim/config
sim/app|$sim models/hw workloads validation/compare validation/calibrate
models/hw/common|$sim
models/hw/sm|models/hw/common $sim workloads/spec
models/hw/noc|models/hw/common $sim
models/hw/l2|models/hw/common $sim
models/hw/hbm|models/hw/common $sim
models/hw/system|models/hw $sim workloads/spec
workloads/spec|sim/base sim/config
workloads/kernels|workloads/spec sim/base sim/config
workloads/library|workloads/spec workloads/kernels sim/base sim/config
workloads/graph|workloads/spec workloads/kernels workloads/library sim/base sim/config
workloads/import|workloads/spec sim/base sim/config
validation/kernels|
validation/library|
validation/microbench|
validation/compare|$sim workloads/spec
validation/calibrate|$sim validation/compare workloads/spec
TABLE
}

# third-party header | folders that may include it
libraries() {
  cat <<TABLE
yaml-cpp/|sim/config
CLI/|sim/app
boost/graph/|sim/topology workloads/graph
nlopt|validation/calibrate
zstd.h|workloads/spec workloads/import
zlib.h|sim/app
cuda|validation/kernels validation/library validation/microbench
TABLE
}

{
  rules | sed 's/^/rule|/'
  libraries | sed 's/^/library|/'
  find sim models workloads validation \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 2>/dev/null |
    sort -z | xargs -0 -r grep -Hn '^[[:space:]]*#[[:space:]]*include' | sed 's/^/include|/'
} | awk -F'|' '
  function within(path, folder) { return index(path "/", folder "/") == 1 }
  $1 == "rule" { allowed[$2] = $3; next }
  $1 == "library" { users[$2] = $3; next }
  {
    line = substr($0, length("include|") + 1)
    split(line, part, ":")
    file = part[1]
    number = part[2]
    match(line, /[<"][^>"]*[>"]/)
    header = substr(line, RSTART + 1, RLENGTH - 2)
    owner = ""
    for (folder in allowed) if (within(file, folder) && length(folder) > length(owner)) owner = folder
    if (owner == "") { report(file, number, "the folder is not in the table of include rules"); next }
    if (header ~ /^(sim|models|workloads|validation|tests)\//) {
      if (within(header, owner)) next
      n = split(allowed[owner], list, " ")
      for (i = 1; i <= n; i++) if (within(header, list[i])) next
      report(file, number, owner " may not include " header "; it may include: " (n ? allowed[owner] : "nothing but itself"))
      next
    }
    for (library in users) if (index(header, library) == 1) {
      n = split(users[library], list, " ")
      ok = 0
      for (i = 1; i <= n; i++) if (list[i] == owner) ok = 1
      if (!ok) report(file, number, owner " may not include " header "; only these may: " users[library])
    }
  }
  function report(at, row, text) { print at ":" row ": " text; broken++ }
  END { if (broken) { print broken " broken include rules"; exit 1 } print "include rules hold" }
'
