# shellcheck shell=bash
# Sourced. available_metrics LIST OUTDIR: of the comma-separated metrics LIST those that this GPU's ncu offers; says which it does not.
available_metrics() {
  [ -s "$2/metrics.txt" ] || ncu --query-metrics 2>/dev/null | cut -d' ' -f1 > "$2/metrics.txt"
  printf '%s\n' "$1" | tr , '\n' | while read -r m; do
    case $m in launch__*) printf '%s,' "$m"; continue ;; esac
    if grep -qx "${m%%.*}" "$2/metrics.txt"; then printf '%s,' "$m"; else echo "no metric $m here" >&2; fi
  done | sed 's/,$//'
}
