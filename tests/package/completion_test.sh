#!/bin/bash
# completion_test.sh BIN_DIR COMPLETION: what the bash completion offers for some command lines.
set -euo pipefail
PATH=$1:$PATH
# shellcheck source=/dev/null
source "$2"
status=0

offers() {  # WORD-OFFERED COMMAND-LINE-WORDS...
  local wanted=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _iceblink
  if [[ " ${COMPREPLY[*]} " != *" $wanted "* ]]; then
    echo "'$*' is not completed by $wanted, but by: ${COMPREPLY[*]}"
    status=1
  fi
}

offers resolve iceblink re
offers register iceblink --json reg
offers --snapshot iceblink files --sn
offers --overwrite iceblink --dir /nowhere register --over
offers folder iceblink import fo
offers --dry-run iceblink import folder --dry
offers --data-dir iceblinkd --data
offers debug iceblinkd --log-level d
exit $status
