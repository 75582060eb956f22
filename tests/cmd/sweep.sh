#!/usr/bin/env bash
# Sweeps: which points, that no kill and no full disk loses or repeats one, shards, merge.
. "$(dirname "$0")/harness.bash"

cat >"$work/s.cfg" <<'CFG'
machine = "v100";
defaults = { strategy = "general"; };
cases = (
    { name = "rows"; dataset = "[64][65]i32"; view = "slice_2d"; },
    { name = "flat"; dataset = "[64][64]i32"; }
);
sweep = { over = (
    { key = "defaults.elements_per_thread"; values = "1 .. 8 * 2"; },
    { key = "machine.clock_MHz"; values = "1000 .. 1480 + 20"; }
); };
CFG
sed '/^sweep/,$d' "$work/s.cfg" >"$work/plain.cfg"
same() { cmp -s "$1" "$2"; }

# ---- the points: 4 x 25 settings, 2 cases
run sweep -q "$work/s.cfg" -o "$work/whole.csv"
check "status 0" status 0
check "nothing on stdout" silent
check "200 points and a header" [ "$(wc -l <"$work/whole.csv")" -eq 201 ]
check "no journal is left" [ ! -e "$work/whole.csv.journal" ]
check "in order, keys before the columns of run" grep -Eq \
    '^[0-9a-f]{16},0,200,1,1000,,rows,general sorted,[0-9.]+,' "$work/whole.csv"
check "the last key changes fastest" grep -Eq '^[0-9a-f]{16},3,200,1,1020,,flat,' "$work/whole.csv"
check "the last point" grep -Eq '^[0-9a-f]{16},199,200,8,1480,,flat,' "$work/whole.csv"
# A point is what `run` says of the same values.
run run -q "$work/s.cfg" --format csv -D defaults.elements_per_thread=4 -D machine.clock_MHz=1240
check "as run says" same <(tail -n 2 "$work/out") <(grep ',4,1240,,' "$work/whole.csv" | cut -d, -f7-)
check "run's columns" same <(head -n 1 "$work/out") <(head -n 1 "$work/whole.csv" | cut -d, -f7-)
run sweep -q --threads 1 "$work/s.cfg" -o "$work/one.csv"
check "the same bytes on one thread" same "$work/one.csv" "$work/whole.csv"

# ---- killed five times at random moments
whole_sum=$(sha256sum <"$work/whole.csv")
kills=0
tries=0
while [ "$kills" -lt 5 ] && [ "$tries" -lt 100 ]; do
    tries=$((tries + 1))
    "$program" sweep -q --threads 1 "$work/s.cfg" -o "$work/killed.csv" 2>>"$work/err" &
    child=$!
    sleep "0.0$((RANDOM % 8))$((RANDOM % 10))"
    if kill -KILL "$child" 2>/dev/null; then
        wait "$child" 2>/dev/null
        [ -e "$work/killed.csv" ] && rm "$work/killed.csv" || kills=$((kills + 1))
    else
        wait "$child"
        rm -f "$work/killed.csv"
    fi
done
check "it was killed five times" [ "$kills" -eq 5 ]
run sweep "$work/s.cfg" -o "$work/killed.csv"
check "killed five times: status 0" status 0
check "killed five times: the same bytes" [ "$(sha256sum <"$work/killed.csv")" = "$whole_sum" ]

# A journal that a kill has cut off within a line; what it has is not simulated again (a changed number stays).
head -n 21 "$work/whole.csv" | sed '21s/,general sorted,[0-9.]*,/,general sorted,123456,/' >"$work/cut.csv.journal"
sed -n '22p' "$work/whole.csv" | head -c 100 >>"$work/cut.csv.journal"
run sweep -q "$work/s.cfg" -o "$work/cut.csv"
check "a line cut off: status 0" status 0
check "what is done is not repeated" same <(sed 's/,general sorted,123456,/,X,/' "$work/cut.csv") \
    <(sed '21s/,general sorted,[0-9.]*,/,X,/' "$work/whole.csv")

# ---- interrupted
"$program" sweep -q --threads 1 "$work/s.cfg" -o "$work/term.csv" -D 'cases.rows.dataset=[2048][2049]i32' 2>"$work/err" &
child=$!
sleep 1
kill -TERM "$child"
wait "$child"
code=$?
check "interrupted: status 130" status 130
check "interrupted: says how to go on" says "points are in $work/term.csv.journal; start the same command again to go on"
check "interrupted: no result yet" [ ! -e "$work/term.csv" ]

# ---- a full disk: by a limit on the size of files, and on a small file system where one can be mounted
echo precious >"$work/full.csv"
(ulimit -f 64 && exec "$program" sweep -q "$work/s.cfg" -o "$work/full.csv") >"$work/out" 2>"$work/err" </dev/null
code=$?
check "no space: status 2" status 2
check "no space: says so" says "full.csv.journal: File too large; what is done is kept"
check "no space: the old file is as it was" grep -qx precious "$work/full.csv"
run sweep -q "$work/s.cfg" -o "$work/full.csv"
check "space again: the same bytes" same "$work/full.csv" "$work/whole.csv"
mkdir "$work/disk"
if mount -t tmpfs -o size=256k tmpfs "$work/disk" 2>/dev/null; then
    head -c 100000 /dev/zero >"$work/disk/ballast"
    run sweep -q "$work/s.cfg" -o "$work/disk/x.csv"
    check "full disk: status 2" status 2
    check "full disk: says so" says "x.csv.journal: No space left on device; what is done is kept"
    before=$(grep -c '^[0-9a-f]\{16\},' "$work/disk/x.csv.journal")
    check "full disk: what is done is kept" [ "$before" -gt 10 ]
    rm "$work/disk/ballast"
    mount -o remount,size=8m "$work/disk"
    run sweep -q "$work/s.cfg" -o "$work/disk/x.csv"
    check "full disk, space again: the same bytes" same "$work/disk/x.csv" "$work/whole.csv"
    umount "$work/disk"
fi

# ---- shards
for k in 1 2 3 4; do
    run sweep -q --shard $k/4 "$work/s.cfg" -o "$work/part$k.csv"
    check "shard $k: 50 points" [ "$(wc -l <"$work/part$k.csv")" -eq 51 ]
done
run merge "$work"/part{3,1,4,2}.csv
check "merge: status 0" status 0
check "four shards merged = unsharded" same "$work/out" "$work/whole.csv"
rejects "50 of 200 points are missing: 1, 5, 9, 13, " merge "$work"/part{1,3,4}.csv
rejects "part1.csv:2: point 0 is there already, in $work/part1.csv" merge "$work"/part{1,1,2}.csv
rejects "nothing.csv: cannot be opened: No such file" merge "$work/nothing.csv"
run run -q "$work/s.cfg" -o "$work/run.csv"
rejects "run.csv:1: this is no result of coalign sweep" merge "$work/run.csv"
head -c 20000 "$work/part1.csv" >"$work/torn.csv"
rejects "the file ends within this line: it was cut off" merge "$work/torn.csv"
run sweep -q --exact --shard 2/4 "$work/s.cfg" -o "$work/exact.csv"
rejects "exact.csv:2: another sweep: config, machine, options or version differ" merge "$work"/part1.csv "$work/exact.csv"

# As GNU parallel does it, with one worker killed and its job started again.
if command -v parallel >/dev/null; then
    parallel --will-cite --jobs 2 --retries 3 \
        "[ -e $work/victim{} ] || { touch $work/victim{}; [ {} = 3 ] && { timeout -s KILL 0.02 $program sweep -q --shard {}/4 $work/s.cfg -o $work/p{}.csv; exit 1; }; }; $program sweep -q --shard {}/4 $work/s.cfg -o $work/p{}.csv" \
        ::: 1 2 3 4 >"$work/out" 2>"$work/err"
    code=$?
    check "GNU parallel, one worker killed: status 0" status 0
    run merge "$work"/p[1-4].csv
    check "GNU parallel, one worker killed: the same bytes" same "$work/out" "$work/whole.csv"
else
    echo "sweep.sh: GNU parallel is not installed: its test is skipped" >&2
fi

# ---- two at a time on one file
(exec 9>>"$work/busy.csv.journal" && flock 9 && "$program" sweep -q "$work/s.cfg" -o "$work/busy.csv" >"$work/out" 2>"$work/err")
code=$?
check "a second writer is refused" refused "busy.csv.journal is being written by another process"

# ---- values
points() { # points OVER... : the values of the first key, one a line
    rm -f "$work/v.csv"
    run sweep -q "$work/plain.cfg" -D 'cases=({name="c";dataset="[64]i32";})' -o "$work/v.csv" "$@"
    [ "$code" -eq 0 ] && sed 1d "$work/v.csv" | cut -d, -f4 | tr '\n' ' '
}
check "a list" [ "$(points --over defaults.elements_per_thread=1,2,8)" = "1 2 8 " ]
check "a range" [ "$(points --over machine.clock_MHz=1000..1003)" = "1000 1001 1002 1003 " ]
check "a range by steps ends within" [ "$(points --over machine.clock_MHz=1000..1250+100)" = "1000 1100 1200 " ]
check "tenths do not drift" [ "$(points --over machine.clock_MHz=1000..1000.5+0.1 | wc -w)" -eq 6 ]
check "a log range of sizes" [ "$(points --over 'machine.levels.L2.size=3 MiB..12MiB*2' | tr -d ' ')" = "3MiB6MiB12MiB" ]
check "several machines" [ "$(points --over machine=v100,a100-40)" = "v100 a100-40 " ]
check "commas in brackets" [ "$(points --over 'cases.c.dataset=[8][8]i32,[64]f64')" = "[8][8]i32 [64]f64 " ]
check "zip" [ "$(points --zip --over machine=v100,a100-40 --over machine.clock_MHz=1000,1100 | wc -w)" -eq 2 ]
check "a machine by its file" [ "$(points --over "machine=${COALIGN_MODELS:-models}/v100.cfg,v100" | wc -w)" -eq 2 ]
bad() { rejects "$1" sweep -q "$work/s.cfg" -o "$work/bad.csv" "${@:2}"; }
bad "--over x: KEY=VALUES is needed" --over x
bad "--over machine.clock_MHz=2..1: '2..1' never arrives" --over machine.clock_MHz=2..1
bad "'0..8*2' never arrives" --over machine.clock_MHz=0..8*2
bad "a value is empty in '1,,2'" --over machine.clock_MHz=1,,2
bad "zip needs as many values for each key: 'defaults.elements_per_thread' has 4, 'machine.clock_MHz' has 25" --zip
bad "more than 100000 values" --over machine.clock_MHz=1..1000000
bad "-D defaults.elements_per_thread=3: 'elements_per_thread' must be 1, 2, 4 or 8" --over defaults.elements_per_thread=1..4
bad "there is no 'defualts' in the file; did you mean 'defaults'?" --over defualts.tile=1,2
bad "--shard 5/4: K/N is needed" --shard 5/4
bad "--shard 0/4: K/N is needed" --shard 0/4
bad "-m v100: the sweep has values for 'machine'" -m v100 --over machine=v100,a100-40
rejects "sweep needs one -o FILE" sweep -q "$work/s.cfg"
rejects "a sweep writes CSV" sweep -q "$work/s.cfg" -o "$work/x.json"
rejects "nothing to sweep over" sweep -q "$work/plain.cfg" -o "$work/x.csv"
rejects "no-such-folder/x.csv" sweep -q "$work/s.cfg" -o "$work/no-such-folder/x.csv"
check "no mistake leaves a file" [ -z "$(find "$work" -name 'bad.csv*')" ]

# A point that its machine cannot run does not end the sweep: n/a and the reason.
run sweep -q "$work/plain.cfg" -D 'cases=({name="c";dataset="[64][64]i32";view="transpose";strategy="transpose_default";})' \
    --over 'machine.core.shared_bytes=1024,65536' -o "$work/impossible.csv"
check "impossible: status 0" status 0
check "impossible: n/a and why" grep -Eq ',0,2,1024,.*shared memory.*,c,n/a,n/a,' "$work/impossible.csv"
check "impossible: the other point has its time" grep -Eq ',1,2,65536,,c,transpose_default,[0-9.]+,' "$work/impossible.csv"

# ---- progress: a bar with rate and time left on a terminal
if command -v script >/dev/null; then
    script -qec "$program sweep --threads 1 $work/s.cfg -o $work/bar.csv -D 'cases.rows.dataset=[512][513]i32'" /dev/null \
        >"$work/out" 2>"$work/err" </dev/null
    check "a bar with rate and time left" grep -Eq '\[#+\.*\] [0-9]+/200  [0-9.]+ points/(s|min), [0-9]+ (s|min [0-9]+ s) left' "$work/out"
fi
finish
