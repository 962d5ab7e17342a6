#!/usr/bin/env bash
# Times and counts library kernels (cuBLAS, cuDNN, FlashAttention, PyTorch) on this machine's GPU: needs PyTorch and Nsight Compute.
#   record.sh OUTDIR [--set validation|calibration|grid|drawn|functors] [--only WORD]
# Leaves library_kernels.csv, and what it was made from, in OUTDIR. Nothing is changed on the device.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,4p' "$0"; exit 2; }
out=$1; shift
. "$here/../lib/metrics.sh"
mkdir -p "$out" || exit 1
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu --format=csv > "$out/nvidia_smi.csv"
python3 -c 'import torch; print("torch", torch.__version__, "cuda", torch.version.cuda, "cudnn", torch.backends.cudnn.version())' > "$out/versions.txt"
ncu --version | tail -1 >> "$out/versions.txt"
python3 "$here/launches.py" --time "$out/timed.csv" "$@" || exit 1
timeout 420 ncu --clock-control none --profile-from-start off --nvtx --csv --page raw --print-units base \
  --metrics "$(available_metrics "$(python3 "$here/join_launches.py" --metrics)" "$out")" \
  python3 "$here/launches.py" --profile "$@" > "$out/ncu.csv" 2> "$out/ncu.log"
python3 "$here/join_launches.py" "$out/timed.csv" "$out/ncu.csv" "$out/library_kernels.csv"
