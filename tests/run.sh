#!/usr/bin/env bash
# Runs test programs (Criterion binaries) and test scripts, and adds up what they say.
#
#   tests/run.sh [-jN] PROGRAM... SCRIPT.sh...
#
# A script ends with a line "<name>: N passed, N failed" of its own. Fails when anything failed or crashed, when a leak
# was reported (Criterion itself does not mind leaks), and when nothing ran at all.
set -u -o pipefail

jobs=-j2
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for program in "$@"; do
    case $program in
    -j*)
        jobs=$program
        continue
        ;;
    *.sh)
        bash "$program" 2>&1 | tee "$log"
        code=$?
        counts=$(sed -nE 's/^[^ ]+: ([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
        ;;
    *)
        echo "== $program"
        "$program" "$jobs" 2>&1 | tee "$log"
        code=$?
        counts=$(sed 's/\x1b\[[0-9;]*m//g' "$log" |
            sed -nE 's/.*Synthesis: Tested: [0-9]+ \| Passing: ([0-9]+) \| Failing: ([0-9]+) .*/\1 \2/p' | tail -n 1)
        ;;
    esac
    read -r ok bad <<<"${counts:-0 0}"
    if grep -q 'ERROR: LeakSanitizer' "$log"; then
        echo "$program: leaks memory" >&2
        bad=$((bad + 1))
    fi
    # A program that died without a verdict counts as one failure.
    if [ "$bad" -eq 0 ] && { [ "$code" -ne 0 ] || [ -z "$counts" ]; }; then
        echo "$program: ended with status $code and without a verdict" >&2
        bad=1
    fi
    passed=$((passed + ok))
    failed=$((failed + bad))
done

echo "$passed passed, $failed failed"
if [ $((passed + failed)) -eq 0 ]; then
    echo "no test ran" >&2
    exit 1
fi
[ "$failed" -eq 0 ]
