#!/usr/bin/env bash
# coalign trace as a user meets it. Ends with "trace: N passed, N failed".
. tests/cmd/harness.bash

lackey=tests/golden/cpu/lackey_small.trace.xz
shape='I1=32K:8:64,L1=48K:12:64,LL=2M:16:64'

# ---- replay --counts
run trace replay --counts --cache "$shape" "$lackey"
check "counts: status 0" status 0
check "counts: 100 columns" narrow
check "counts: the rules are named" has "counted by the rules of hardware"

# Cachegrind's own counts of the six programs in three shapes: golden/cachegrind/counts.csv, made by make.sh beside it.
declare -A shapes=(
    [desktop]='I1=32K:8:64,L1=48K:12:64,LL=2M:16:64'
    [small]='I1=4K:2:64,L1=4K:2:64,LL=64K:8:64'
    [odd]='I1=2K:1:32,L1=6K:3:32,LL=20K:5:32'
)
while IFS=, read -r name shape_name ir i1mr ilmr dr d1mr dlmr dw d1mw dlmw; do
    run trace replay --counts --rules cachegrind --cache "${shapes[$shape_name]}" --format csv \
        "tests/golden/cachegrind/$name.trace.xz"
    check "$name, $shape_name: as Cachegrind counted" awk -F, -v i="$ir,$i1mr,$ilmr" \
        -v d="$dr,$d1mr,$dlmr,$dw,$d1mw,$dlmw" '
        $1 == "I1" { i1 = $12 "," $13 }
        $1 == "L1" { d1r = $8 "," $9; d1w = $10 "," $11 }
        $1 == "LL" { il = $13; dlr = $9; dlw = $11 }
        END { exit !(i1 "," il == i && d1r "," dlr "," d1w "," dlw == d) }' "$work/out"
done < <(tail -n +2 tests/golden/cachegrind/counts.csv)

for form in json csv; do
    run trace replay --counts --cache "$shape" --format $form "$lackey"
    check "counts, $form: status 0" status 0
done
run trace replay --counts -m v100 "$lackey"
check "counts of a machine: status 0" status 0

# ---- mrc
run trace mrc tests/golden/cpu/trans_blk256_8.din.xz
check "mrc: status 0" status 0
check "mrc: one miss in eight from 1 KiB on" grep -qE '^ +1 KiB +16 +12\.500 ' "$work/out"
run trace mrc --format csv tests/golden/cpu/trans_blk256_8.din.xz
check "mrc, csv: every row as long as the header" awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR < 10 }' "$work/out"


# Twice as long lines, half as many; a sample says how large it is and how sure.
run trace mrc --line 128 --sample 1024 tests/golden/cpu/unaligned.xdin.xz
check "mrc, sampled: status 0" status 0
check "mrc, sampled: says so" grep -qE '^sampled: 1 in [0-9]+ lines was followed' "$work/out"
check "mrc, sampled: 100 columns" narrow

# A pipe, and a file that appears whole.
xz -dc "$lackey" >"$work/plain"
run trace mrc "$lackey" -o "$work/curve.csv"
"$program" trace mrc --format csv - <"$work/plain" >"$work/out" 2>"$work/err"
check "mrc: the same from a pipe" cmp -s "$work/out" "$work/curve.csv"

# ---- bad input
rejects "needs caches" trace replay --counts "$lackey"
rejects "0 ways" trace replay --counts --cache L1=48K:0:64 "$lackey"
rejects "a line of 63 bytes" trace replay --counts --cache L1=48K:12:63 "$lackey"
rejects "is no size" trace replay --counts --cache L1=1e30:2:64 "$lackey"
rejects "unknown word 'fifi'; did you mean 'fifo'" trace replay --counts --cache L1=48K:12:64:fifi "$lackey"
rejects "not a whole number of sets" trace replay --counts --cache L1=50000:12:64 "$lackey"
rejects "a data cache is needed too" trace replay --counts --cache I1=32K:8:64 "$lackey"
rejects "two descriptions of the caches" trace replay --counts -m v100 --cache L1=48K:12:64 "$lackey"
rejects "--rules cachegrin: unknown rules; did you mean 'cachegrind'" trace replay --counts --rules cachegrin "$lackey"
rejects "--sample 5" trace mrc --sample 5 "$lackey"
rejects "--line 48" trace mrc --line 48 "$lackey"
rejects "'foo'" trace replay --counts --cache foo "$lackey"
rejects "unknown subcommand 'foo'" trace foo "$lackey"
rejects "No such file" trace mrc "$work/none"
rejects "it is a directory" trace mrc "$work"
: >"$work/empty"
rejects "there is no access" trace mrc "$work/empty"
printf 'I  04000000,3\nzzz\n' >"$work/bad"
rejects "$work/bad:2: 'zzz'" trace mrc "$work/bad"
head -c 3000 "$lackey" >"$work/cut.xz"
rejects "$work/cut.xz" trace mrc "$work/cut.xz"
finish
