#!/usr/bin/env bash
# coalign trace on recorded GPU kernels. Ends with "warps: N passed, N failed".
. tests/cmd/harness.bash

golden=tests/golden/accelsim
vectoradd=$golden/vectoradd-100-f32/kernelslist.g

# counted FILE : instructions, requests and sectors of loads, of stores, shared requests, as a CSV report has them
counted() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["smsp__inst_executed.sum"], $at["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
            $at["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], $at["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
            $at["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], $at["shared_requests_ld"], $at["shared_requests_st"] }' "$1"
}
# cycles FILE : of every kernel
cycles() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["sm__cycles_elapsed.max"] }' "$1"
}

# ---- counts: the known numbers of instructions, and all of count.awk's
while read -r name insts; do
    xz -dc "$golden/$name"/*.xz | awk -f $golden/count.awk >"$work/want"
    check "$name: $insts instructions" grep -q "^$insts " "$work/want"
    for machine in titanx-pascal v100; do
        run trace replay -m $machine --quiet --format csv "$golden/$name/kernelslist.g"
        check "$name on $machine: status 0" status 0
        counted "$work/out" >"$work/have"
        check "$name on $machine: counts as count.awk's" cmp -s "$work/have" "$work/want"
    done
done <<'END'
vectoradd-100-f32 344
matrixmul-32x32-f32 4416
bfs-sm80 1799
ffma-1x32x10 1328
plain 48
hoist 48
END

# ---- time: a dependent FFMA every 4 cycles on a V100 (Jia et al. 2018), and little else in the chain of 1280
run trace replay -m v100 --format csv $golden/ffma-1x32x10/kernelslist.g
check "ffma: 4 to 4.5 cycles each" awk -v c="$(cycles "$work/out")" 'BEGIN { exit !(c >= 4 * 1280 && c < 4.5 * 1280) }'
# Hoisting the second load hides one memory latency of about 400 cycles (its second load no longer waits for the first).
run trace replay -m v100 --format csv $golden/plain/kernelslist.g
plain=$(cycles "$work/out")
run trace replay -m v100 --format csv $golden/hoist/kernelslist.g
hoisted=$(cycles "$work/out")
check "hoist: between 300 and 500 cycles less than plain" eval "[ $((plain - hoisted)) -ge 300 ] && [ $((plain - hoisted)) -le 500 ]"

# ---- the same bits whatever the number of threads
run trace replay -m v100 --format csv --threads 1 $golden/bfs-sm80/kernelslist.g
cp "$work/out" "$work/one"
run trace replay -m v100 --format csv --threads 2 $golden/bfs-sm80/kernelslist.g
check "threads: the same results" cmp -s "$work/out" "$work/one"

finish
