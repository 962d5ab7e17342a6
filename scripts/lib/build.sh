# shellcheck shell=bash
# Functions shared by the scripts; sourced, not run.

# Configures and builds a preset: build_preset release [configure options...] [-- build options...]
build_preset() {
  local preset=$1
  shift
  local configure=()
  while [[ $# -gt 0 && $1 != -- ]]; do
    configure+=("$1")
    shift
  done
  [[ $# -gt 0 ]] && shift
  if command -v ccache >/dev/null; then
    configure+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake --preset "$preset" "${configure[@]}" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log" >&2
    return 1
  }
  cmake --build --preset "$preset" -j "$(nproc)" "$@"
}
