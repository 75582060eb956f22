#!/usr/bin/env bash
# Makes the traces and the counts of this folder again: needs valgrind, xz and a compiler for x86-64 Linux.
#
# The programs stand alone (no C library, static), so that Lackey and Cachegrind see the same few instructions, in the
# same places, on every machine with this compiler. counts.csv: a row a program and shape, Cachegrind's summary.
set -eu -o pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name, then size,ways,line of I1, D1 and LL. "odd": sizes that are no power of two; the sets must be one, or Cachegrind
# refuses ("cache set count is not a power of two").
shapes='desktop 32768,8,64 49152,12,64 2097152,16,64
small 4096,2,64 4096,2,64 65536,8,64
odd 2048,1,32 6144,3,32 20480,5,32'

echo 'program,shape,ir,i1mr,ilmr,dr,d1mr,dlmr,dw,d1mw,dlmw' >counts.csv.new
for source in *.c; do
    program=${source%.c}
    ${CC:-cc} -O1 -ffreestanding -fno-builtin -fno-stack-protector -fcf-protection=none -fno-pic -no-pie -nostdlib \
        -static -o "$work/$program" "$source"
    valgrind --tool=lackey --trace-mem=yes --log-file="$work/trace" "$work/$program"
    # Without the messages, which tell of process ids.
    grep -v '^==' "$work/trace" | xz -9e >"$program.trace.xz"
    while read -r shape i1 d1 ll; do
        valgrind -q --tool=cachegrind --cache-sim=yes --I1="$i1" --D1="$d1" --LL="$ll" \
            --cachegrind-out-file="$work/out" "$work/$program" 2>"$work/err"
        awk -v name="$program,$shape" '$1 == "events:" && $0 !~ /: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw *$/ { exit 1 }
            $1 == "summary:" { $1 = name; gsub(/ /, ","); print }' "$work/out"
    done <<<"$shapes" >>counts.csv.new
done
mv counts.csv.new counts.csv
