#!/usr/bin/env bash
# `coalign hoist` as a user meets it: bodies from files, stdin and configs, reports, reasons, bad bodies.
# Ends with "hoist: N passed, N failed".
. tests/cmd/harness.bash

# run ARGUMENT... : leaves $code, $work/out, $work/err
run() {
    "$program" hoist "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

refused() { [ "$code" -eq 2 ] && [ ! -s "$work/out" ] && grep -qF -- "$1" "$work/err"; }
# cause_is NAME: of the only case in $work/out, which is CSV
cause_is() { [ "$code" -eq 0 ] && [ "$(tail -n +2 "$work/out" | cut -d, -f4 | grep .)" = "$1" ]; }

cat >"$work/two.body" <<'BODY'
global f32 a[32, 64], b[32, 64], c[32, 64], d[32, 64], e[32, 64]
threads 64
for (k, 0, 32) {
    d[k, tid] = exp(a[k, tid]) / b[k, tid]
    e[k, tid] = a[k, tid] * c[k, tid]
}
BODY

# ---- reports
run "$work/two.body" -m v100 --exact
check "text: status" [ "$code" -eq 0 ]
check "text: the reason comes first" has "times as fast because a warp has up to 3 loads in flight instead of 2"
check "text: what is new" has "+     let a_local = a[k, tid]"
check "text: the timeline" grep -q '^  issue .*L.*S' "$work/out"
check "text: the sweep marks the best" grep -q '3 .* best' "$work/out"
check "text: 100 columns" [ "$(wc -L <"$work/out")" -le 100 ]
cp "$work/out" "$work/one"
run "$work/two.body" -m v100 --exact --threads 1
check "any number of threads gives the same bytes" cmp -s "$work/out" "$work/one"
"$program" hoist - -m v100 --exact <"$work/two.body" >"$work/out" 2>"$work/err"
check "stdin" cmp -s <(tail -n +2 "$work/out") <(tail -n +2 "$work/one")
run "$work/two.body" -m v100 --format json --exact
check "json: the loads in order" [ "$(sed -n 's/^ *"text": "\(.*\)",*$/\1/p' "$work/out" | tr '\n' ' ')" = \
    'a[k, tid] b[k, tid] c[k, tid] ' ]
check "json: a variant for each number of loads" [ "$(sed -n 's/^ *"hoisted_loads": \(.*\),$/\1/p' "$work/out" |
    tr '\n' ' ')" = '0 1 2 3 ' ]
run "$work/two.body" -m v100 --format csv --exact
check "csv: a row for each number of loads" [ "$(wc -l <"$work/out")" -eq 5 ]
check "csv: cause" cause_is more_loads_overlap
run "$work/two.body" -m v100 -D limit=1 -D sweep=false --format csv
check "-D takes the keys of a case" [ "$(wc -l <"$work/out")" -eq 3 ]
run "$work/two.body" -m v100 --timeline "$work/line.csv" --exact
check "--timeline" [ "$(grep -c ',load,' "$work/line.csv")" -eq 7 ]

# ---- the body in other languages: what it computes is tests/kernel's business
run "$work/two.body" --emit c
check "--emit c needs no machine" has "const float a_local"
if command -v gcc >/dev/null; then
    check "--emit c compiles" gcc -std=c11 -Wall -Werror -c -x c "$work/out" -o "$work/two.o"
fi
run "$work/two.body" --emit cuda
check "--emit cuda" has "__global__ void body"
run "$work/two.body" --emit fortran
check "--emit knows two languages" refused "--emit fortran: unknown language"

# ---- reasons
body() {
    printf '%s\n' "$1" >"$work/x.body"
    shift
    run "$work/x.body" -m v100 --format csv -q -D sweep=false "$@"
}
body 'global f32 a[64], b[64]
threads 64
b[tid] = a[tid]'
check "no loop: nothing to hoist" cause_is nothing_to_hoist
body 'global f32 a[32, 64], b[32, 64], c[32, 64]
threads 64
for (k, 0, 32) { c[k, tid] = a[k, tid] * b[k, tid] }'
check "loads that are together already" cause_is loads_overlap_already
# 8 blocks of 256 threads a core leave 32 registers a thread.
body "$(
    echo 'global f64 r[640, 256]'
    for i in $(seq 16); do echo "global f64 v$i[4, 256]"; done
    echo 'for (k, 0, 4) { r[bid, tid] = r[bid, tid]'
    for i in $(seq 16); do echo " + v$i[k, tid] * 3.0"; done
    echo '}'
)" -D limit=16 -D threads=256 -D blocks=640 -D min_blocks=8
check "values that do not fit" cause_is spills
check "spills are counted" [ "$(tail -n 1 "$work/out" | cut -d, -f10)" -gt 0 ]

# ---- bad input
body 'global f32 a[4]
for (k, 0, 4) { a[k] = b[k] }'
check "unknown array" refused "x.body:2:24: unknown array 'b'"
check "unknown array: a caret" grep -q '\^' "$work/err"
body 'global f32 a[4, 4]
for (k, 0, 4) { a[k] = 0 }'
check "wrong rank" refused "'a' has 2 dimensions, and here is 1 subscript"
body 'global f32 a[4]
for (k, 0, 4) { a[k] = 0'
check "missing brace" refused "x.body:"
body 'global f32 a[a]'
check "self-referencing declaration" refused "'a' is used in its own declaration"
body "global f32 a
a = $(printf '(%.0s' $(seq 10000))1$(printf ')%.0s' $(seq 10000))"
check "10 000 parentheses" refused "x.body:2:"
body 'global f32 a[4, 4]
for (i, 0, 4) { for (k, 0, 4) { a[i * k % 4, k] = 0 } }'
check "a subscript that is no closed form" refused "x.body:2:"
body "$(
    echo 'global f32 a[10000], b[10000]'
    echo 'for (k, 0, 2) {'
    for i in $(seq 0 9998); do echo "b[$i + k] = a[$i + k]"; done
    echo '}'
)" -D limit=4
check "10 000 statements" [ "$code" -eq 0 ]
run "$work/two.body"
check "a body needs a machine" refused "use -m"
run "$work/nowhere.body" -m v100
check "no such file" refused "cannot read"
head -c 100 /dev/zero >"$work/zero.body"
run "$work/zero.body" -m v100
check "no text" refused "this is no text"
run "$work/two.body" -m v100 -D unrol=2
check "unknown key" refused "unrol"
run "$work/two.body" -m v100 -D threads=4096
check "too many threads" refused "threads"
printf 'machine = "v100";\ncases = ( { body = [ "global f32 a[2]", "a[0] = c" ]; } );\n' >"$work/x.cfg"
run "$work/x.cfg"
check "config: line of the file, then of the body" refused "x.cfg:2: body:2:8: unknown name 'c'"
printf 'machine = "v100";\ncases = ( { name = "x"; } );\n' >"$work/x.cfg"
run "$work/x.cfg"
check "config: a body is needed" refused "lacks the key 'body'"
echo old >"$work/keep.csv"
run "$work/x.cfg" -o "$work/keep.csv"
check "a failure leaves the old file" [ "$(cat "$work/keep.csv")" = old ]
for config in configs/hoist_*.cfg; do
    run "$config" --emit c
    check "$config is well-formed" [ "$code" -eq 0 ]
done

finish
