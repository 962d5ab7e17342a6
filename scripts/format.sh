#!/usr/bin/env bash
# Formats the C++ sources in place; with --check it names the files that differ and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(-i)
if [[ "${1:-}" == --check ]]; then
  mode=(--dry-run -Werror)
fi
git ls-files -z -- '*.cpp' '*.hpp' | xargs -0 -r clang-format "${mode[@]}"
