#!/bin/bash
# Checks segment_protocol.pml. Every configuration ok_* must be searched to the end without an
# error; every without_* leaves one rule out and must be caught by an assertion. A search that ends
# in any other way (time, memory, depth, a bound of the model) is undecided, and that is a failure.
#
#   run.sh                 the bounded set         run.sh --list      names and definitions
#   run.sh --only-ok       its ok_* only           run.sh NAME        one configuration
#   run.sh --only-without  its without_* only      run.sh --full      larger bounds too
#
# Needs spin, and gcc or cc. Environment: LIMIT_S (CPU seconds each), MEMORY_MB (each), JOBS.
# Exit code: 0 all as expected, 1 not, 2 wrong usage or a tool is missing.
set -uo pipefail
model=$(cd "$(dirname "$0")" && pwd)/segment_protocol.pml

# NAME DEFINITIONS; the model's defaults: 1 table, 1 commit, 1 flip, 1 crash, 1 reader, first start.
bounded='
ok_flip_and_crash       -DONLY_READ
ok_commits              -DCOMMITS=2 -DCRASHES=0
ok_room                 -DCOMMITS=2 -DCRASHES=0 -DTIGHT -DONLY_READ
ok_two_tables           -DTABLES=2 -DCRASHES=0 -DINITIAL=3
ok_new_namespace        -DTABLES=2 -DCRASHES=0 -DINITIAL=0
ok_answers              -DFLIPS=0 -DRUNNING -DREST
ok_replace              -DFLIPS=0 -DRUNNING -DREPLACE
ok_restore              -DFLIPS=0 -DRUNNING -DRESTORE
ok_wipe                 -DFLIPS=0 -DRUNNING -DWIPE
ok_replace_and_restore  -DCOMMITS=0 -DFLIPS=0 -DRUNNING -DREPLACE -DRESTORE
ok_wipe_and_restore     -DFLIPS=0 -DRUNNING -DANEW
ok_nested               -DTABLES=2 -DNESTED -DCRASHES=0 -DINITIAL=7 -DONLY_LIST
ok_pinned               -DPIN -DONLY_WAIT -DCRASHES=0
ok_pinned_replaced      -DTABLES=0 -DPIN -DONLY_WAIT -DFLIPS=0 -DRUNNING -DREPLACE
ok_waiters_replaced     -DTABLES=0 -DREADERS=2 -DONLY_WAIT -DCOMMITS=0 -DFLIPS=0 -DRUNNING -DREPLACE
ok_waiters_wiped        -DTABLES=0 -DREADERS=2 -DONLY_WAIT -DCOMMITS=0 -DFLIPS=0 -DRUNNING -DWIPE
ok_waiter_wiped         -DTABLES=0 -DONLY_WAIT -DFLIPS=0 -DRUNNING -DWIPE
ok_log_restored         -DLOG -DONLY_FEED -DFLIPS=0 -DRUNNING -DRESTORE
without_whole_root            -DWITHOUT_WHOLE_ROOT
without_control_id_replaced   -DWITHOUT_CONTROL_ID -DCOMMITS=0 -DFLIPS=0 -DRUNNING -DREPLACE
without_control_id_wiped      -DWITHOUT_CONTROL_ID -DCOMMITS=0 -DFLIPS=0 -DRUNNING -DWIPE
without_next_epoch            -DWITHOUT_NEXT_EPOCH
without_sparing_sweep         -DWITHOUT_SPARING_SWEEP -DCOMMITS=0 -DFLIPS=0
without_root_before_unlink    -DWITHOUT_ROOT_BEFORE_UNLINK
without_retired               -DWITHOUT_RETIRED -DFLIPS=0 -DRUNNING -DREPLACE
without_retired_first         -DWITHOUT_RETIRED_FIRST -DFLIPS=0 -DRUNNING -DREPLACE
without_reserve               -DWITHOUT_RESERVE -DCOMMITS=2 -DCRASHES=0 -DTIGHT
without_reserve_lock          -DWITHOUT_RESERVE_LOCK -DCOMMITS=2 -DCRASHES=0 -DTIGHT -DONLY_READ
without_reserve_kept          -DWITHOUT_RESERVE_KEPT -DCOMMITS=2 -DCRASHES=0 -DTIGHT -DONLY_READ
without_slots_first           -DWITHOUT_SLOTS_FIRST
without_links_first           -DWITHOUT_LINKS_FIRST
without_tail_first            -DWITHOUT_TAIL_FIRST
without_wake_last             -DWITHOUT_WAKE_LAST
without_answer_after_publish  -DWITHOUT_ANSWER_AFTER_PUBLISH -DREST
without_flip_lock             -DWITHOUT_FLIP_LOCK -DCOMMITS=2 -DCRASHES=0
without_capture_lock          -DWITHOUT_CAPTURE_LOCK
without_copy_of_arena         -DWITHOUT_COPY_OF_ARENA
without_restored_generation   -DWITHOUT_RESTORED_GENERATION -DFLIPS=0 -DRUNNING -DRESTORE
without_retired_generation -DWITHOUT_RETIRED_GENERATION -DCOMMITS=0 -DFLIPS=0 -DRUNNING -DRESTORE -DREPLACE
without_incarnation           -DWITHOUT_INCARNATION -DFLIPS=0 -DRUNNING -DWIPE -DRESTORE
without_fresh_incarnation     -DWITHOUT_FRESH_INCARNATION -DFLIPS=0 -DRUNNING -DWIPE -DRESTORE
without_link_once             -DWITHOUT_LINK_ONCE -DCOMMITS=2 -DFLIPS=0 -DCRASHES=0 -DINITIAL=3
without_namespace_first       -DWITHOUT_NAMESPACE_FIRST -DINITIAL=0
without_base_check            -DWITHOUT_BASE_CHECK
without_expected_word         -DWITHOUT_EXPECTED_WORD
without_flip_wake             -DWITHOUT_FLIP_WAKE -DONLY_WAIT
without_wake_all              -DWITHOUT_WAKE_ALL -DREADERS=2 -DONLY_WAIT -DFLIPS=0 -DCRASHES=0
without_pin_holds             -DWITHOUT_PIN_HOLDS -DPIN -DONLY_WAIT -DCRASHES=0
without_pin_holds_replaced    -DWITHOUT_PIN_HOLDS -DPIN -DONLY_WAIT -DFLIPS=0 -DRUNNING -DREPLACE
without_retired_wake -DWITHOUT_RETIRED_WAKE -DONLY_WAIT -DCOMMITS=0 -DFLIPS=0 -DRUNNING -DREPLACE
without_path_check            -DWITHOUT_PATH_CHECK -DONLY_WAIT -DFLIPS=0 -DRUNNING -DWIPE
without_log_floor             -DWITHOUT_LOG_FLOOR -DLOG -DONLY_FEED -DCOMMITS=2 -DCRASHES=0
without_log_published         -DWITHOUT_LOG_PUBLISHED -DLOG -DONLY_FEED -DCOMMITS=2 -DCRASHES=0
without_log_incarnation -DWITHOUT_LOG_INCARNATION -DTABLES=0 -DONLY_FEED -DCOMMITS=2 -DRUNNING -DANEW
'
larger='
ok_full_flip_and_crash
ok_full_commits          -DCOMMITS=2
ok_full_log              -DLOG -DONLY_FEED
ok_full_waiters          -DREADERS=2 -DONLY_WAIT -DCRASHES=0
ok_full_flips            -DCOMMITS=2 -DFLIPS=2 -DCRASHES=0
ok_full_crashes          -DCOMMITS=1 -DFLIPS=0 -DCRASHES=2 -DRUNNING
ok_full_room             -DCOMMITS=2 -DFLIPS=2 -DCRASHES=0 -DTIGHT
ok_full_two_tables       -DTABLES=2 -DINITIAL=3
ok_full_two_readers      -DREADERS=2 -DFLIPS=0 -DCRASHES=0
ok_full_answers          -DREST
ok_full_replace          -DREPLACE
ok_full_restore          -DRESTORE
ok_full_replace_and_restore -DFLIPS=0 -DRUNNING -DREPLACE -DRESTORE
ok_full_wipe             -DWIPE
ok_full_room_readers     -DCOMMITS=2 -DCRASHES=0 -DTIGHT
ok_full_wipe_and_restore -DFLIPS=0 -DRUNNING -DWIPE -DRESTORE
ok_full_anew             -DTABLES=0 -DONLY_FEED -DCOMMITS=2 -DRUNNING -DANEW
ok_full_waiters_wiped    -DTABLES=0 -DREADERS=2 -DONLY_WAIT -DFLIPS=0 -DRUNNING -DWIPE
'

fail() { echo "run.sh: $1" >&2; exit 2; }

configurations=$bounded
limit_s=${LIMIT_S:-240}
case ${1:-} in
  '') ;;
  --list) configurations=$bounded$larger ;;
  --full) configurations=$bounded$larger; limit_s=${LIMIT_S:-1800} ;;
  --only-ok) configurations=$(grep '^ok_' <<<"$bounded") ;;
  --only-without) configurations=$(grep '^without_' <<<"$bounded") ;;
  -*) fail "unknown option: $1" ;;
  *) configurations=$(awk -v name="$1" '$1 == name' <<<"$bounded$larger")
     [ -n "$configurations" ] || fail "unknown configuration: $1 (see --list)"
     limit_s=${LIMIT_S:-1800} ;;
esac
[ $# -le 1 ] || fail "one argument at most"
configurations=$(grep . <<<"$configurations")
if [ "${1:-}" = --list ]; then echo "$configurations"; exit 0; fi

[ -r "$model" ] || fail "cannot read $model"
command -v spin >/dev/null || fail "spin is not installed"
compiler=$(command -v gcc || command -v cc) || fail "neither gcc nor cc is installed"
work=$(mktemp -d) || fail "no temporary directory"
export TMPDIR=$work                     # the compiler's files too

set -m                                  # each check is a process group, so that none outlives us
end() {
  local group
  for group in $(jobs -p); do kill -KILL -- "-$group" 2>/dev/null; done
  wait 2>/dev/null
  rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

count_cpu() {  # $cpu_s is what the children cost that this shell has waited for
  times >times                          # in no other shell: it would be that one's
  cpu_s=$(awk -F'[ms ]+' 'NR == 2 { printf "%.1f", $1 * 60 + $2 + $3 * 60 + $4 }' times)
}

verdict() {  # of pan's report on stdin; $1 is pan's exit code
  local report; report=$(cat)
  if grep -q 'assertion violated.*model_too_small' <<<"$report"; then
    echo "undecided: model too small"
  elif grep -q 'assertion violated' <<<"$report" && grep -q 'errors: [1-9]' <<<"$report"; then
    echo caught
  elif [ "$1" = 152 ]; then echo "undecided: ${limit_s} s of CPU are over"  # SIGXCPU
  elif grep -qi 'not completed\|out of memory\|memory limit\|max search depth' <<<"$report"; then
    echo "undecided: search not completed"
  elif [ "$1" = 0 ] && grep -q 'Full statespace search' <<<"$report" &&
       grep -q 'errors: 0$' <<<"$report"; then echo clean
  else echo "undecided: pan ended with $1"
  fi
}

check() {  # NAME DEFINITIONS...
  local name=$1; shift
  local answer='undecided: does not compile' optimise=-O1
  case $name in
    without_log_incarnation) ;;
    without_*) optimise=-O0 ;;          # found soon: compiling is most of the time
  esac
  mkdir "$work/$name" && cd "$work/$name" || return
  if spin -a "$@" "$model" >report 2>&1 &&
     "$compiler" -w $optimise -DSAFETY -DCOLLAPSE -DMEMLIM="${MEMORY_MB:-6000}" \
       -o pan pan.c >>report 2>&1
  then
    { (ulimit -S -t "$limit_s" && exec ./pan -m20000 -n) >report 2>&1; } 2>/dev/null
    answer=$(verdict $? <report)
  fi
  local states; states=$(awk '/states, stored$/ { print $1 }' report)
  local mark=as-expected
  case $name:$answer in
    ok_*:clean | without_*:caught) touch "$work/$name.passed" ;;
    *) mark=WRONG ;;
  esac
  local cpu_s; count_cpu
  printf '%-30s %-12s %11s states %7.1f s  %s\n' "$name" "$answer" "${states:--}" "$cpu_s" $mark
  if [ $mark = WRONG ]; then
    echo "  spin -a $* segment_protocol.pml"
    grep -h 'assertion violated\|rror:\|undefined' report | head -5 | sed 's/^/  /'
  fi
  rm -rf "${work:?}/$name"
}

running=0
while read -r name definitions; do
  # shellcheck disable=SC2086  # definitions are words
  check "$name" $definitions </dev/null &
  running=$((running + 1))
  if [ $running -ge "${JOBS:-2}" ]; then wait -n; running=$((running - 1)); fi
done <<<"$configurations"
wait

cd "$work" && count_cpu || exit 1
wanted=$(wc -l <<<"$configurations")
passed=$(find "$work" -name '*.passed' | wc -l)
echo "$passed of $wanted as expected, $cpu_s s of CPU"
[ "$passed" = "$wanted" ] && [ "$wanted" -gt 0 ]
