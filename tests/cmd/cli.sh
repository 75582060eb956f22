#!/usr/bin/env bash
# The program as a user meets it: exit statuses, what goes to which stream, files that appear whole or not at all.
# Uses the program in $COALIGN (default ./coalign) from the top of the source tree. Ends with "cli: N passed, N failed".
set -u

program=${COALIGN:-./coalign}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# Small enough for a second under sanitizers.
cat >"$work/small.cfg" <<'CFG'
title = "small";
machine = "v100";
cases = (
    { name = "rows"; dataset = "[64][65]i32"; view = "slice_2d"; strategy = "general"; sorted = true; measured_us = 8.0; },
    { name = "flat"; dataset = "[64][64]i32"; view = "copy"; }
);
CFG
cat >"$work/typo.cfg" <<'CFG'
machine = "v100";
cases = (
    { name = "rows"; dataset = "[64][65]i32"; vieww = "slice_2d"; }
);
CFG
# Long enough to be interrupted.
cat >"$work/long.cfg" <<'CFG'
machine = "v100";
cases = (
    { name = "short"; dataset = "[64][65]i32"; view = "slice_2d"; },
    { name = "long"; dataset = "[65536][16385]i32"; view = "slice_2d"; strategy = "general"; sorted = false; }
);
CFG

ok() {
    passed=$((passed + 1))
}

not_ok() {
    failed=$((failed + 1))
    echo "cli.sh: $1" >&2
    sed 's/^/    | /' "$work/out" "$work/err" >&2
}

# run ARGUMENT... : leaves $code, $work/out, $work/err
run() {
    "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

# check NAME CONDITION... : the condition is a command
check() {
    local name=$1
    shift
    if "$@"; then ok; else not_ok "$name"; fi
}

# Bad input: exit status 2, nothing on stdout, one line on stderr that contains the text.
rejects() {
    local text=$1
    shift
    run "$@"
    if [ "$code" -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -qF -- "$text" "$work/err"; then
        ok
    else
        not_ok "status $code, wanted 2 and one line with: $text"
    fi
}

out_has() { grep -qF -- "$1" "$work/out"; }
out_lines() { [ "$(wc -l <"$work/out")" -eq "$1" ]; }
succeeded() { [ "$code" -eq 0 ]; }
silent() { [ ! -s "$work/err" ]; }
same() { cmp -s "$1" "$2"; }

# ---- usage
rejects "unknown command 'runn'; did you mean 'run'?" runn
rejects "a command is needed" -- 
rejects "measure needs to know what: --native" measure
rejects "measure writes text or csv" measure --native --format json
rejects "unknown option --fromat; did you mean 'format'?" run --fromat csv "$work/small.cfg"
rejects "unknown option -x" run -x "$work/small.cfg"
rejects "--format yaml" run --format yaml "$work/small.cfg"
rejects "--format needs a value" run "$work/small.cfg" --format
rejects "--quiet takes no value" run --quiet=1 "$work/small.cfg"
rejects "--threads 0" run --threads 0 "$work/small.cfg"
rejects "--threads 2x" run --threads 2x "$work/small.cfg"
rejects "KEY=VALUE is needed" run -D novalue "$work/small.cfg"
rejects "run needs CONFIG" run
rejects "one operand too many" run "$work/small.cfg" another
rejects "plan needs --shape" plan
rejects "--case walls: none of the config's 2 cases" run --case walls "$work/small.cfg"
run run -q --format csv --case lat "$work/small.cfg"
check "--case keeps the case that has the text in its name" sh -c "[ $code = 0 ] && [ \$(wc -l <'$work/out') = 2 ] && grep -q ^flat, '$work/out'"
run run -q --format csv --case flat --case ro "$work/small.cfg"
check "--case repeated keeps both, in the config's order" sh -c "grep -c . '$work/out' | grep -qx 3 && sed -n 2p '$work/out' | grep -q ^rows,"
rejects "no command 'nothing'" help nothing
run
check "no command: status 2" [ "$code" -eq 2 ]
check "no command: help on stderr" grep -q '^usage: ' "$work/err"
check "no command: nothing on stdout" [ ! -s "$work/out" ]
for words in "--help" "-h" "help" "help run" "run --help" "run -h" "plan --help" "machines --help" "metrics --help"; do
    # shellcheck disable=SC2086
    run $words
    check "$words: status 0" succeeded
    check "$words: usage on stdout" out_has "usage: coalign"
    check "$words: nothing on stderr" silent
done
run --version
check "--version" grep -Eq '^coalign [0-9]+\.[0-9]+\.[0-9]+' "$work/out"

# ---- bad input: file and line, nearest key
# bad FILE TEXT CONTENT : the config is rejected with "FILE:LINE: ... TEXT"
bad() {
    printf '%s\n' "$3" >"$work/$1.cfg"
    rejects "$2" run "$work/$1.cfg"
}
rejects "typo.cfg:3: " run "$work/typo.cfg"
rejects "did you mean 'view'?" run "$work/typo.cfg"
rejects "missing.cfg: cannot be opened" run "$work/missing.cfg"
rejects "$work: is a directory" run "$work"
rejects "/proc/self/mem: cannot be read" run /proc/self/mem
if [ "$(id -u)" -ne 0 ]; then # root may read anything
    cp "$work/small.cfg" "$work/locked.cfg" && chmod 000 "$work/locked.cfg"
    rejects "locked.cfg: cannot be opened: Permission denied" run "$work/locked.cfg"
fi
rejects "did you mean 'rx7900xt'?" run -m rx7900xtt "$work/small.cfg"
rejects "-D cases.rows.srted=true" run -D cases.rows.srted=true "$work/small.cfg"
rejects "--shape '[8'" plan --shape '[8'
rejects "--src has 1 dimensions, --shape 2" plan --shape '[8][8]i32' --src '[(64,1)]'
rejects "--dst: dimension 1 has size 9, in --shape it has 8" plan --shape '[8][8]i32' --dst '[(8,9),(9,1)]'
rejects "no machine is named" plan --shape '[8][8]i32' -D core.count=1
cases='machine = "v100"; cases = ('
bad type "type.cfg:2: 'dataset' must be a text" "$cases
    { dataset = 64; } );"
bad range "range.cfg:3: 'elements_per_thread' must be 1 .. 8; it is 9" "$cases
    { dataset = \"[8][8]i32\";
      elements_per_thread = 9; } );"
bad syntax "syntax.cfg:3: syntax error" "$cases
    { dataset = \"[8][8]i32\"; }
    { dataset = \"[8][8]i32\"; } );"
bad twice "twice.cfg:2: duplicate setting name" 'machine = "v100";
machine = "v100";'
bad nothing "nothing.cfg: the file lacks the key 'cases'" ''
printf '@include "loop.cfg"\n' >"$work/inner.cfg"
bad loop "/loop.cfg' includes itself" "$cases );
@include \"inner.cfg\""
bad open "open.cfg:2: syntax error at the end" 'machine = "v100";
cases = ( { dataset = "[8]i32"; }'
bad huge "huge.cfg:2: 'src_base_bytes' must be 0 .. 4611686018427387904 bytes; it is 9223372036854775807" "$cases
    { dataset = \"[8]i32\"; src_base_bytes = 9223372036854775807L; dst_base_bytes = 0; } );"
rejects "the name of the configuration file is empty" run ''
rejects "the name of the machine is empty" run -m '' "$work/small.cfg"
rejects "-o: the name of the file is empty" run -o '' "$work/small.cfg"
head -c 20 /dev/zero >"$work/zeros.body"
rejects "zeros.body: this is no text" hoist -m v100 "$work/zeros.body"
bad same "same.cfg:3: there are two cases 'a', the first at $work/same.cfg:2" "$cases
    { name = \"a\"; dataset = \"[8]i32\"; },
    { name = \"a\"; dataset = \"[16]i32\"; } );"
bad strategy "strategy.cfg:2: 'memcpy' cannot do this copy" "$cases
    { dataset = \"[8][9]i32\"; view = \"slice_2d\"; strategy = \"memcpy\"; } );"

# A machine without ways, in a file of its own and by override.
cp -r "${COALIGN_MODELS:-models}" "$work/models"
sed 's/ways *=.*/ways = 0;/' "$work/models/v100.cfg" >"$work/models/wayless.cfg"
line=$(grep -n -m 1 'ways = 0' "$work/models/wayless.cfg" | cut -d: -f1)
rejects "wayless.cfg:$line: 'ways' must be 1 .. " run -m "$work/models/wayless.cfg" "$work/small.cfg"
rejects "-D machine.levels.L2.ways=0: 'ways' must be 1 .. " run -D machine.levels.L2.ways=0 "$work/small.cfg"

# Products beyond 2^63: elements, bytes, offsets, addresses.
bad elements "elements.cfg:2: 'dataset': shape: the number of elements does not fit 64 bits" "$cases
    { dataset = \"[4294967296][2147483648]i32\"; } );"
bad offsets "offsets.cfg:2: case 0: source: offsets do not fit 64 bits" "$cases
    { shape = \"[8]i32\"; src = \"[(8,9223372036854775807)]\"; } );"
rejects "the number of elements does not fit 64 bits" plan --shape '[4294967296][2147483648]i32'
rejects "does not fit" plan --shape '[3037000500][3037000500]i32'
rejects "offsets do not fit 64 bits" plan --shape '[8]i32' --src '[(8,9223372036854775807)]'
rejects "do not fit a 64-bit address space" plan --shape '[2305843009213693951]i8' --src '4611686018427387904:[(2305843009213693951,1)]'

# U9: a permutation of the wrong length; U18: a negative size is rejected, a negative stride is legal.
bad perm "perm.cfg:2: 'permutation': column 1: perm has 3 entries, rank is 4" "$cases
    { dataset = \"[4][5][6][7]i32\"; view = \"transpose\"; permutation = \"{0,2,1}\"; } );"
bad axis "axis.cfg:2: 'permutation': column 4: " "$cases
    { dataset = \"[4][5]i32\"; view = \"transpose\"; permutation = \"{0,-1}\"; } );"
bad size "size.cfg:2: 'dataset': column 5: size -5 is negative" "$cases
    { dataset = \"[4][-5]i32\"; } );"
rejects "size -5 is negative" plan --shape '[4][-5]i32'
run plan --shape '[8]i32' --src '7:[(8,-1)]'
check "a negative stride is legal" succeeded
check "a negative stride: not memcpy" out_has "choice       general"

# ---- results (on one thread: quick even where other programs hold the processors)
run run --threads 1 "$work/small.cfg" --quiet
check "run: status 0" succeeded
check "run: quiet" silent
check "run: title" out_has "small"
check "run: 100 columns" [ "$(awk 'length > n { n = length } END { print n }' "$work/out")" -le 100 ]
run run --threads 1 "$work/small.cfg" --quiet --details
check "--details: a page for each case" [ "$(grep -c 'Warp state' "$work/out")" -eq 2 ]
run run --threads 1 "$work/small.cfg" --format csv
check "csv: status 0" succeeded
check "csv: header" grep -q '^case,strategy,predicted_us,measured_us,error_pct,limiter,' "$work/out"
check "csv: a row for each case" out_lines 3
check "csv: an unmeasured case is n/a" grep -Eq '^flat,memcpy,[0-9.]+,n/a,n/a,' "$work/out"
check "csv: diagnostics on stderr only" grep -q 'cases simulated' "$work/err"
cp "$work/out" "$work/two.csv"
run run --threads 2 "$work/small.cfg" --format csv
check "the same bits on two threads" same "$work/out" "$work/two.csv"
run run --threads 1 "$work/small.cfg" --format json -q
check "json: begins as an object" grep -q '^{$' "$work/out"
check "json: unknown is null" out_has '"measured_us": null'
run run --threads 1 "$work/small.cfg" -q -D cases.flat.strategy=general --format csv
check "-D changes a case" grep -q '^flat,general' "$work/out"
run run --threads 1 "$work/small.cfg" -q -D 'cases=()' --format csv
check "no cases: only the header" out_lines 1

# ---- files
run run --threads 1 "$work/small.cfg" -q -o - -o "$work/r.csv" -o "$work/r.json" -o "$work/r.txt"
check "-o: status 0" succeeded
check "-o -: the table on stdout" out_has "predicted"
check "-o .csv: CSV" same "$work/r.csv" "$work/two.csv"
check "-o .json: JSON" grep -q '^{$' "$work/r.json"
check "-o: text otherwise" same "$work/r.txt" "$work/out"
check "-o: nothing left beside" [ -z "$(find "$work" -name 'r.*.??????')" ]
ln -s r.csv "$work/link.csv"
run run --threads 1 "$work/small.cfg" -q -o "$work/link.csv"
check "-o through a symbolic link replaces its target" [ -L "$work/link.csv" ]
echo precious >"$work/kept.csv"
rejects "typo.cfg:3: " run "$work/typo.cfg" -o "$work/kept.csv"
check "a failed run leaves the old file" grep -q precious "$work/kept.csv"
rejects "no-such-folder/x.csv" run "$work/small.cfg" -q -o "$work/no-such-folder/x.csv"
rejects "is a directory" run "$work/small.cfg" -q -o "$work"
rejects "No space left on device" run "$work/small.cfg" -q -o /dev/full
"$program" run --threads 1 "$work/small.cfg" -q >/dev/full 2>"$work/err"
code=$?
check "a full disk on stdout: status 2" [ "$code" -eq 2 ]
check "a full disk on stdout: says so" grep -q 'No space left on device' "$work/err"
"$program" metrics >/dev/full 2>"$work/err"
check "metrics to a full disk: status 2" [ $? -eq 2 ]
"$program" --help >/dev/full 2>"$work/err"
check "help to a full disk: status 2" [ $? -eq 2 ]
# More text than a pipe holds, so that the writer does meet the closed end.
{ "$program" run --threads 1 "$work/small.cfg" -q --format json -o - -o - -o - -o - -o - -o - -o -; echo $? >"$work/status"; } 2>"$work/err" |
    head -n 1 >"$work/out"
check "| head: no complaint" silent
check "| head: status 0" [ "$(cat "$work/status")" -eq 0 ]
{ "$program" run --threads 1 "$work/small.cfg" -q -o - -o "$work/beside.csv"; echo $? >"$work/status"; } 2>"$work/err" | :
check "| a reader that is gone: the file beside is written" same "$work/beside.csv" "$work/two.csv"
check "| a reader that is gone: status 0" [ "$(cat "$work/status")" -eq 0 ]

# ---- interruption: what is done is reported. Background jobs of a script ignore SIGINT; SIGTERM is handled alike.
"$program" run --threads 1 "$work/long.cfg" -q --format csv >"$work/out" 2>"$work/err" &
child=$!
sleep 3
kill -TERM "$child"
wait "$child"
code=$?
check "interrupted: status 130" [ "$code" -eq 130 ]
check "interrupted: header and the finished case" out_lines 2
check "interrupted: the finished case" grep -q '^short,' "$work/out"

# A file that exists is not replaced by a part of the results.
echo precious >"$work/kept.csv"
"$program" run --threads 1 "$work/long.cfg" -q -o "$work/kept.csv" >"$work/out" 2>"$work/err" &
child=$!
sleep 2
kill -TERM "$child"
wait "$child"
code=$?
check "interrupted, -o: status 130" [ "$code" -eq 130 ]
check "interrupted, -o: the file is as it was" grep -qx precious "$work/kept.csv"
check "interrupted, -o: what is done is beside it" grep -q '^short,' "$work/kept.csv.partial"
check "interrupted, -o: says where" grep -qF "what is done is in $work/kept.csv.partial" "$work/err"

# ---- the other commands
run machines
check "machines: lists" out_has "rx7900xt"
run machines v100
check "machines v100: figures with units" out_has "GB/s"
run machines v100 --format csv
check "machines --format csv" grep -q '^group,key,value,unit$' "$work/out"
run machines --format json
check "machines --format json" out_has '"id": "v100"'
rejects "did you mean" machines v10
run metrics
check "metrics: Nsight's names" out_has "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum [sector]"
check "metrics: every count has a unit" [ -z "$(grep -E '^  [a-z0-9_]+(requests|sectors|bytes|cycles)(_ld|_st)?$' "$work/out")" ]
run metrics --format csv
check "metrics --format csv" grep -q '^name,unit,meaning$' "$work/out"
run plan --shape '[64][64]i32' --src '1:[(64,65),(64,1)]' --dst '[(64,64),(64,1)]'
check "plan: without a machine" out_has "general sorted"
check "plan: why not memcpy" out_has "memcpy"
run plan --shape '[64][64]i32' --src '[(64,1),(64,64)]' -m v100 -q --threads 1
check "plan -m: status 0" succeeded
check "plan -m: chooses the tile" out_has "choice       transpose_default"
check "plan -m: ranks the unpadded tile too" out_has "transpose_unpadded"
run plan --shape '[64][64]i32' --src '[(64,1),(64,64)]' -m v100 -q --threads 1 --format json
check "plan json: choice" out_has '"choice": "transpose_default"'
run plan --shape '[64][64]i32' --format csv
check "plan csv: verdicts" grep -q '^memcpy,yes,' "$work/out"
# field COLUMN ROW : of the CSV in $work/out
field() {
    awk -F, -v column="$1" -v row="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
                                        NR == row + 1 { print at ? $at : "no such column" }' "$work/out"
}
is() { [ "$(field "$1" "$2")" = "$3" ]; }

# ---- sampling: a machine so small that its rate is steady early
cat >"$work/sampled.cfg" <<'CFG'
machine = "v100";
machine_overrides = ("core.count=2", "core.per_cluster=1", "levels.L2.size=192 KiB");
cases = ( { name = "rows"; dataset = "[512][1025]i32"; view = "slice_2d"; strategy = "general"; } );
CFG
run run --threads 1 "$work/sampled.cfg" -q
check "sampled: says so" out_has "of the blocks were simulated"
check "sampled: 95 % confidence interval" grep -Eq 'Predicted: [0-9.]+ us \(95 % CI: \[[0-9.]+, [0-9.]+\]\)' "$work/out"
run run --threads 1 "$work/sampled.cfg" -q --format csv
check "sampled: not all blocks" [ "$(field simulated_blocks 1)" -lt "$(field launch__grid_size 1)" ]
check "sampled: counts are scaled to the whole" is launch__grid_size 1 2048
sampled=$(field predicted_us 1)
cp "$work/out" "$work/sampled.csv"
run run --threads 2 "$work/sampled.cfg" -q --format csv
check "sampled: the same bits on two threads" same "$work/out" "$work/sampled.csv"
run run --threads 1 "$work/sampled.cfg" -q --format csv --exact
check "--exact: all blocks" is simulated_blocks 1 2048
check "--exact: no interval" is predicted_ci95_low_us 1 n/a
check "sampled: within 2 % of exact" awk -v a="$sampled" -v b="$(field predicted_us 1)" \
    'BEGIN { exit !(a > 0.98 * b && a < 1.02 * b) }'
run run --threads 1 "$work/sampled.cfg" -q --exact
check "--exact: says nothing of sampling" [ -z "$(grep -i -e sampled -e 'CI: \[' "$work/out")" ]

# ---- shapes that broke other programs, end to end
cat >"$work/odd.cfg" <<'CFG'
machine = "v100";
defaults = { strategy = "auto"; };
cases = (
    { name = "empty"; dataset = "[0][32]i32"; view = "transpose"; },
    { name = "one"; dataset = "[1]i8"; },
    { name = "rank 8"; dataset = "[2][2][2][2][2][2][2][3]i16"; view = "transpose"; permutation = "{0,2,1,4,3,6,5,7}"; },
    { name = "rank 9"; dataset = "[2][2][2][2][2][2][2][2][3]i16"; view = "transpose"; permutation = "{8,0,2,1,4,3,6,5,7}"; },
    { name = "rank 16"; dataset = "[2][2][2][1][2][2][1][2][1][2][1][2][1][2][1][2]i8"; view = "transpose"; },
    { name = "tiles"; dataset = "[1][14][16][33]f32"; view = "transpose"; permutation = "{0,2,3,1}"; },
    { name = "overlap"; dataset = "[256]i32"; strategy = "memcpy"; src_base_bytes = 65536; dst_base_bytes = 65664; },
    { name = "in place"; dataset = "[256]i32"; strategy = "memcpy"; src_base_bytes = 65536; dst_base_bytes = 65536; },
    { name = "reversed"; dataset = "[4][64]i32"; view = "reversed_rows"; }
);
CFG
run run --threads 1 "$work/odd.cfg" -q --format csv
check "odd shapes: status 0" succeeded
check "odd shapes: all of them" out_lines 10
check "U7: an empty shape moves nothing" is useful_bytes 1 0
check "U7: and makes no request" is l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 1 0
check "U7: its bandwidth is n/a" is useful_gb_per_s 1 n/a
check "U7: and its hit rates" is l2_read_hit_pct 1 n/a
row=1
for bytes in 0 2 1536 3072 2048 59136 2048 2048 2048; do
    check "odd shapes, row $row: reads and writes every element once" is useful_bytes $row $bytes
    row=$((row + 1))
done
# Masked lanes make no transactions: as many bytes loaded as the user has, once each.
for row in 3 4 5 6 9; do
    half=$(($(field useful_bytes $row) / 2))
    check "odd shapes, row $row: lanes load what is useful" is useful_bytes_ld $row $half
    check "odd shapes, row $row: lanes store what is useful" is useful_bytes_st $row $half
done
run run --threads 1 "$work/odd.cfg" -q
check "U10: ranks above 8 are noted" out_has "rank 9: Futhark's general kernel stops at 8 dimensions"
check "U13: an overlap is noted" out_has "source and destination share bytes: the result depends on the order"
check "U13: so is a copy onto itself" out_has "the copy changes nothing"
run plan --shape '[256]i32' --dst '1:[(256,1)]' --same-memory -m v100 -q --threads 1
check "U13: plan --same-memory notes the overlap" out_has "source and destination share bytes"
check "U13: and simulates nevertheless" out_has "predicted"
run plan --shape '[256]i32' --dst '1:[(256,1)]'
check "separate memories do not overlap" [ -z "$(grep 'share bytes' "$work/out")" ]
# U11: 2^31 - 1 elements fit 32-bit indices, their last grid-stride step does not.
run plan --shape '[2147483647]i8'
check "U11: the 32-bit overflow is noted" grep -q '^  note .*32-bit' "$work/out"
run plan --shape '[1000000000]i8'
check "U11: and only where there is one" [ -z "$(grep '^  note' "$work/out")" ]
# U17: rows of 9 floats start at any multiple of 4 bytes; padded to 12, at multiples of 16.
run plan --shape '[64][8]f32' --src '[(64,9),(8,1)]'
check "U17: misaligned rows refuse wide vectors" grep -q 'widest load  4 B' "$work/out"
run plan --shape '[64][8]f32' --src '[(64,12),(8,1)]'
check "U17: aligned rows allow them" grep -q 'widest load  16 B' "$work/out"
run plan --shape '[64][8]f32' --src '1:[(64,12),(8,1)]'
check "U17: a misaligned base refuses them" grep -q 'widest load  4 B' "$work/out"
run plan --shape '[0][64]i32' -m v100
check "plan: an empty array needs nothing" out_has "nothing"

echo "cli: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
