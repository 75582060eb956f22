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

# ---- bad input: one message with file and line, and status 2
xz -dc $golden/vectoradd-100-f32/kernel-1.traceg.xz >"$work/good"
# broken TEXT SED : the good kernel, changed
broken() {
    sed -E "$2" "$work/good" >"$work/bad"
    rejects "$1" trace replay -m v100 "$work/bad"
}
broken "bad:25: '0008 1ffffffff 1 R1 MOV 0 0 ': a mask of at most 32 bits" '25s/ffffffff/1ffffffff/'
broken "bad:23: 'warp = 32': no such warp" '23s/0/32/'
broken "bad:23: 'warp = -1': no such warp" '23s/0/-1/'
broken "bad:49: 'warp = 0': this warp of the thread block was there before" '49s/1/0/'
broken "bad:49: the warp ends after 23 of the 24 instructions" '24s/23/24/'
broken "bad:47: '00f0 ffffffff 0 EXIT 0 0 ': 'warp = n', 'insts = n' or '#END_TB' is needed here" '24s/23/22/'
broken "bad:24: 'insts = x': a number of instructions is needed" '24s/23/x/'
broken "'#END_TB' is missing" '/END_TB/d'
broken "bad:4: '-block dim = (1024,1)': three sizes" '4s/,1\)/)/'
broken "the header has no 'grid dim' or no 'block dim'" '3d'
broken "bad:3: '-grid dim = (0,1,1)': three sizes from 1 on" '3s/1/0/'
broken "three sizes from 1 on" '3s/1,1,1/4000000000,4000000000,4000000000/'
broken "at most 2048 threads" '4s/1024/4096/'
broken "at most 255" '6s/8/21955/'
broken "knows the tracer's versions 1 to 6" '12s/4/9/'
broken "bad:25: '0008 ffffffff 1 R1 MOV 0 0 ': more or fewer fields" '12s/4/5/'
broken "belongs to another thread block or warp" '12s/4/2/'
broken "bad:21: 'thread block = 7,0,0': a thread block x,y,z within the grid" '21s/0/7/'
broken "bad:26: '0010 ffffffff 1 R300 S2R 0 0 ': at most 2 destinations" '26s/R0/R300/'
broken "at most 5 sources" '28s/2 R0/6 R0/'
broken "bad:39: '0098 ffffffff 1 R4 LDG.E.CG 1 R4 4 3 0x7fd16550': address mode 0, 1 or 2" '39s/4 1 0x/4 3 0x/'
broken "addresses are from 0 to 2^63 - 1" '39s/0x[0-9a-f]+/0x8000000000000000/'
broken "addresses are from 0 to 2^63 - 1" '39s/0x[0-9a-f]+/0x7fffffffffffffff/'
broken "a hexadecimal base address" '39s/0x[0-9a-f]+/0x10000000000000000/'
broken "lanes are not consecutive" '39s/ffffffff/f0f0f0f0/'
broken "a decimal difference for each active lane but the first" '39s/4 1 0x/4 2 0x/'
broken "a hexadecimal address for each active lane" '39s/4 1 0x/4 0 0x/'
broken "bad:39" '39s/CG 1 R4 4/CG 1 R4 x/'
broken "an opcode is needed" '25s/MOV/mov/'
broken "is needed here" '20s/.*/0000 ffffffff 0 NOP 0 0/'
xz -dc $golden/bfs-sm80/kernel-1.traceg.xz | sed '0,/^#END_TB/{/^#END_TB/d}' >"$work/bad"
rejects "'#BEGIN_TB': '#END_TB' of the thread block before is missing" trace replay -m v100 "$work/bad"
head -c 6000 "$work/good" >"$work/bad"
rejects "bad:212: the file ends after 0 of the 9 instructions that 'insts' announces for warp 11" \
    trace replay -m v100 "$work/bad"
head -c 300 "$work/good" >"$work/bad"
rejects "$work/bad:13" trace replay -m v100 "$work/bad"
gzip -c "$work/good" | head -c 600 >"$work/bad"
rejects "truncated gzip" trace replay -m v100 "$work/bad"
head -c 100000000 /dev/zero | tr '\0' a | cat "$work/good" - >"$work/bad"
rejects "a line of 4096 bytes or more" trace replay -m v100 "$work/bad"
: >"$work/bad"
rejects "there is nothing in this trace" trace replay -m v100 "$work/bad"
rejects "it is a directory" trace replay -m v100 "$work"
rejects "No such file" trace replay -m v100 "$work/none"
printf 'kernel-9.traceg\n' >"$work/list"
rejects "$work/list:1: cannot read $work/kernel-9.traceg" trace replay -m v100 "$work/list"
printf 'MemcpyHtoD,zz,3\n' >"$work/list"
rejects "list:1: 'MemcpyHtoD,zz,3'" trace replay -m v100 "$work/list"
printf 'MemcpyHtoD,0x10,3\n' >"$work/list"
rejects "there is no kernel in this trace" trace replay -m v100 "$work/list"
rejects "needs a machine" trace replay "$vectoradd"
rejects "is a CPU" trace replay -m zen4 "$vectoradd"
rejects "warps of 64" trace replay -m v100 -D machine.core.warp_width=64 "$vectoradd"

# ---- what is accepted
run trace replay -m v100 --format csv "$work/good"
cp "$work/out" "$work/want"
sed 's/$/\r/' "$work/good" >"$work/crlf"
run trace replay -m v100 --format csv "$work/crlf"
check "CR LF: the same results" cmp -s "$work/out" "$work/want"
mkfifo "$work/fifo"
cat "$work/good" >"$work/fifo" &
run trace replay -m v100 --format csv "$work/fifo"
check "a FIFO: the same results" cmp -s "$work/out" "$work/want"
"$program" trace replay -m v100 --format csv - <"$work/good" >"$work/out" 2>"$work/err"
check "standard input: the same results" cmp -s "$work/out" "$work/want"
gzip -c "$work/good" >"$work/good.gz"
run trace replay -m v100 --format csv "$work/good.gz"
check "gzip: the same results" cmp -s "$work/out" "$work/want"

# ---- leniently
sed -e '25s/ffffffff/1ffffffff/' -e '39s/4 1 0x/4 3 0x/' "$work/good" >"$work/bad"
run trace replay -m v100 --lenient --format csv "$work/bad"
check "lenient: status 0" status 0
check "lenient: says how much, and the first" says "faults passed over in the trace: 2; the first: $work/bad:25:"
check "lenient: two instructions less" [ "$(counted "$work/out" | cut -d' ' -f1,2)" = "342 7" ]
head -c 6000 "$work/good" >"$work/bad"
run trace replay -m v100 --lenient --format csv "$work/bad"
check "lenient, cut short: status 0" status 0
check "lenient, cut short: what is whole" [ "$(counted "$work/out" | cut -d' ' -f1,2,4)" = "155 8 4" ]
sed '12s/4/5/' "$work/good" >"$work/bad"
run trace replay -m v100 --lenient "$work/bad"
check "lenient, nothing whole: refused" refused "bad:25"

finish
