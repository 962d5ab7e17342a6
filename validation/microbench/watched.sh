# For run_all.sh and run_counters.sh: programs that a signal to the script ends too, and what it has half-written.
# By itself timeout would give a program a process group of its own, and the shell would wait for its end first: so it
# is run as `watched timeout --foreground ...`.
child=""
watched() {
  "$@" &
  child=$!
  wait "$child"
  local status=$?
  child=""
  return "$status"
}
# end_on_signal FUNCTION: on INT, TERM and HUP ends the program under way, calls FUNCTION and ends the script with 130.
end_on_signal() {
  trap "[ -z \"\$child\" ] || { kill \"\$child\"; wait \"\$child\"; } 2>/dev/null; $1; exit 130" INT TERM HUP
}
