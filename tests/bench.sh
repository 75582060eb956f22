#!/usr/bin/env bash
# Host time and peak memory of the simulations that users wait for: bench.sh [PROGRAM]
# Bounds that hold on two cores of 2020s servers: sorted 20 s, unsorted 60 s, 512 MiB.
set -eu

program=${1:-./coalign}
for sorted in true false; do
    config=$(mktemp --suffix=.cfg)
    cat >"$config" <<CFG
machine = "rx7900xt";
cases = ( { dataset = "[8192][8193]i32"; view = "slice_2d"; strategy = "general"; sorted = $sorted; } );
CFG
    printf '[8192][8193]i32 slice_2d, sorted = %-5s  ' "$sorted"
    "$program" run "$config" --exact --format csv 2>&1 >/dev/null
    rm "$config"
done
