#!/usr/bin/env bash
# coalign model as a user meets it. Ends with "model: N passed, N failed".
. tests/cmd/harness.bash

run model configs/copy_strategies.cfg
check "status 0" status 0
check "nothing on stderr" [ ! -s "$work/err" ]
check "100 columns" narrow
check "conflicts of the unpadded tile bind" grep -qE '^tile, unpadded .* shared memory ' "$work/out"
check "padded, DRAM does" grep -qE '^tile, padded .* DRAM ' "$work/out"
check "what would move it" has "without bank conflicts (16.5 passes an access)"

# No measured time is below its bound: the demo's 16 cases.
run model configs/futhark_copy.cfg --format json
check "json: status 0" status 0
check "json: measured times are above the bounds" awk '
    { gsub(/[",]/, "") }
    $1 == "bound_us:" { bound = $2 }
    $1 == "measured_us:" { n++; if (!($2 >= bound)) bad = 1 }
    END { exit bad || n != 16 }' "$work/out"

run model configs/futhark_copy.cfg -o "$work/f.csv"
check "csv: status 0" status 0
check "csv: nothing on stdout" silent
check "csv: every row as long as the header" awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR < 100 }' "$work/f.csv"
if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$work/f.csv'; output='$work/roof'" plots/roofline.gp >"$work/out" 2>"$work/err"
    check "the roofline is drawn" [ -s "$work/roof.png" ]
    check "without a word" [ ! -s "$work/err" ]
fi

# 2^40 elements take no longer to count.
cat >"$work/huge.cfg" <<'CFG'
machine = "a100-80";
cases = ( { name = "huge"; dataset = "[1048576][1048576]f32"; view = "transpose"; strategy = "general"; sorted = true; } );
CFG
run model "$work/huge.cfg"
check "huge: status 0" status 0
check "huge: says that it looked at a sample" has "Counted from a sample of the warps"
cat >"$work/none.cfg" <<'CFG'
machine = "v100";
cases = ( { name = "none"; dataset = "[0][64]f32"; } );
CFG
for format in text json csv; do
    run model "$work/none.cfg" --format $format
    check "an empty copy has no bounds ($format)" status 0
done
check "none: the rest is n/a" [ "$(wc -l <"$work/out")" -eq 1 ]
run model "$work/none.cfg" -D 'cases=()'
check "no cases" status 0

run model --balance -m g80
check "balance: status 0" status 0
check "balance: the post's 6 warps" grep -qE 'hide arithmetic latency +6.00 warp' "$work/out"
check "balance: the post's 87.5 %" grep -qE 'accesses of 4 B, granules of 32 B +87.5 %' "$work/out"
check "balance: 100 columns" narrow
run model --balance -m g80 -D dram.latency_cycles=400 --format csv
check "balance: overrides" grep -q 'instructions of each of 6 warps that hide a load from DRAM,16.6666667,inst' "$work/out"
run model --balance configs/copy_strategies.cfg --format json
check "balance: of a config's machine" has '"machine": "a100-40"'

# Blocks of the product miss a thirtieth of what its three loops miss.
run model --factoring configs/data_factoring.cfg
check "factoring: status 0" status 0
check "factoring: three loops" grep -qE '^L1 16 KiB +0  b +262 144 +128 +8 064 ' "$work/out"
check "factoring: blocks" grep -qE '^L1 16 KiB +1  b +262 144 +0 +512 ' "$work/out"
check "factoring: 100 columns" narrow
run model --factoring configs/data_factoring.cfg --format csv -m g80
check "factoring: a machine without caches" status 2
check "factoring: the config overrides a level that is not there" says "'levels' has 0 entries"
run model --factoring configs/copy_strategies.cfg
check "factoring: none in the config" status 2
check "factoring: says so" says "there is no section 'factoring'"
for fault in 'factoring.passes.0.touches.0.array=z|no array .z.' 'factoring.arrays.a.shape=[64][64]g32|column' \
    'factoring.passes.1.repeat=4000000|accesses' 'factoring.passes.0.touches.1.layout=[(64,1)]|in step' \
    'factoring.arrays.b.name=a|two arrays'; do
    run model --factoring configs/data_factoring.cfg -D "${fault%|*}"
    check "factoring: ${fault%|*}: status 2" status 2
    check "factoring: ${fault%|*}: says why" grep -q -- "${fault#*|}" "$work/err"
done

run model
check "neither config nor balance: status 2" status 2
check "and says what to do" says "model needs a CONFIG"
run model --balance
check "balance without a machine: status 2" status 2
check "and says what to do" says "-m NAME"
run model "$work/huge.cfg" -m nosuch
check "no such machine: status 2" status 2
check "nothing on stdout" silent
run model "$work/huge.cfg" -D 'machine.levels.L1.wys=3'
check "a wrong key: status 2" status 2
check "the nearest one" says "ways"

finish
