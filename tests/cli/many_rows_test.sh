#!/usr/bin/env bash
# A million rows: duplicates are simulated once, memory stays bounded, the output keeps the order.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=1000000
awk -v rows=$rows 'BEGIN {
  print "case,seq,op,dtype,shape,kernel"
  for (i = 1; i <= rows; i++) printf "c%d,%d,gemm,bf16,\"64,64,64,TN\",unknown_kernel_%d\n", i, i, i % 3
}' >many.csv
ulimit -v 4000000 2>/dev/null || true
expect_done predict --in many.csv --out out.csv
[[ $(wc -l <out.csv) -eq $((rows + 1)) ]] || fail "$(wc -l <out.csv) lines"
[[ "$(sed -n '2p;$p' out.csv | cut -d, -f1-3 | tr '\n' ' ')" == "c1,1,unsupported c$rows,$rows,unsupported " ]] || fail "order"

finish
