# shellcheck shell=bash
# Shared by the command-line tests; sourced. Arguments of each test: the program, the source tree.
set -u
strata=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# expect_error CODE PATTERN ARGUMENTS...: exit code, exactly one line on stderr that matches, nothing on stdout,
# no new file.
expect_error() {
  local code=$1 pattern=$2
  shift 2
  local before after status
  before=$(find . -mindepth 1 ! -name stdout ! -name stderr | sort)
  "$strata" "$@" >stdout 2>stderr </dev/null
  status=$?
  after=$(find . -mindepth 1 ! -name stdout ! -name stderr | sort)
  [[ $status -eq $code ]] || fail "exit $status instead of $code: strata $*: $(head -c 400 stderr)"
  [[ $(wc -l <stderr) -eq 1 ]] || fail "$(wc -l <stderr) lines on stderr: strata $*: $(head -c 600 stderr)"
  grep -qE -- "$pattern" stderr || fail "no '$pattern': strata $*: $(head -c 400 stderr)"
  [[ ! -s stdout ]] || fail "output on stdout: strata $*"
  [[ "$before" == "$after" ]] || fail "files left behind: strata $*: $(comm -13 <(echo "$before") <(echo "$after"))"
}

# expect_done ARGUMENTS...: exit code 0.
expect_done() {
  "$strata" "$@" >stdout 2>stderr </dev/null || fail "exit $?: strata $*: $(head -c 400 stderr)"
}

finish() {
  if [[ $failures -gt 0 ]]; then
    echo "$failures checks failed"
    exit 1
  fi
  echo "all checks passed"
}
