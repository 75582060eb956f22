# Sourced by the scripts of this folder: runs the program in $COALIGN (default ./coalign) from the top of the source tree
# and counts checks. $work is a folder of the script's own, $code, $work/out and $work/err are left by the last run.
set -u

program=${COALIGN:-./coalign}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
script=$(basename "$0" .sh)

# check WHAT COMMAND... : counts one check
check() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$script.sh: $what" >&2
        sed 's/^/    | /' "$work/out" "$work/err" >&2
    fi
}

run() {
    "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
status() { [ "$code" -eq "$1" ]; }
has() { grep -qF -- "$1" "$work/out"; }
says() { grep -qF -- "$1" "$work/err"; }
narrow() { ! LC_ALL=C.UTF-8 grep -qE '^.{101,}$' "$work/out"; }
silent() { [ ! -s "$work/out" ]; }
refused() { [ "$code" -eq 2 ] && silent && [ "$(wc -l <"$work/err")" -eq 1 ] && says "$1"; }

# rejects TEXT ARGUMENT... : bad input gives exit status 2, nothing on stdout, one line on stderr that has the text
rejects() {
    local text=$1
    shift
    run "$@"
    check "status $code, wanted 2 and one line with: $text" refused "$text"
}

finish() {
    echo "$script: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
