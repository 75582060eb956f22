#!/usr/bin/env bash
# coalign check: what has become worse between two results.
. "$(dirname "$0")/harness.bash"

h=case,predicted_us,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
h=$h,dram__bytes_read.sum,dram__bytes_write.sum
table() { # table NAME ROW...
    printf '%s\n' "$h" "${@:2}" >"$work/$1.csv"
}
table base 'a,100,10,20,320,640' 'b,50,0,5,n/a,64'
table slower 'a,102.5,10,20,320,640' 'b,50,0,5,n/a,64'
table more 'a,100,10,20,320,640' 'b,40,1,5,n/a,64'
table other 'b,50,0,5,n/a,64' 'a,99,10,20,320,640'
table lost 'a,100,10,20,320,640'
table unknown 'a,n/a,10,20,320,640' 'b,50,0,5,n/a,64'

run check "$work/base.csv" "$work/base.csv"
check "the same: status 0" status 0
check "the same: what was compared" has "9 figures of 2 cases: 0 worse by more than 0 %, 0 better; cases missing: 0"
run check "$work/base.csv" "$work/slower.csv" --max-regress 2%
check "2.5 % slower: status 1" status 1
check "2.5 % slower: says by how much" has "+2.50"
run check "$work/base.csv" "$work/slower.csv" --max-regress 2.5%
check "2.5 % are allowed: status 0" status 0
run check "$work/base.csv" "$work/more.csv" --max-regress 50%
check "sectors from none to one: status 1" status 1
check "sectors: named" has "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
check "what is better is counted" has "1 better"
run check "$work/base.csv" "$work/other.csv"
check "another order: status 0" status 0
run check "$work/base.csv" "$work/lost.csv"
check "a case is missing: status 1" status 1
check "a case is missing: says which" has "the case is missing"
run check "$work/base.csv" "$work/unknown.csv" --max-regress 100%
check "a time that is no longer known: status 1" status 1
run check "$work/lost.csv" "$work/base.csv"
check "a new case is no regression" status 0

rejects "nothing.csv: No such file" check "$work/nothing.csv" "$work/base.csv"
echo 'x,y' >"$work/x.csv"
rejects "x.csv:1: this is no CSV of coalign run or sweep" check "$work/base.csv" "$work/x.csv"
table torn 'a,100,10'
rejects "torn.csv:2: 3 columns, the header has 6: the file was cut off" check "$work/base.csv" "$work/torn.csv"
table words 'a,fast,10,20,320,640' 'b,50,0,5,n/a,64'
rejects "words.csv:2: 'fast' of predicted_us is no number" check "$work/base.csv" "$work/words.csv"
table twice 'a,1,1,1,1,1' 'a,1,1,1,1,1'
rejects "twice.csv:3: 'a' is there twice" check "$work/twice.csv" "$work/twice.csv"
table empty
rejects "empty.csv: there is no case to compare with" check "$work/empty.csv" "$work/base.csv"
rejects "--max-regress lots: a percentage is needed" check "$work/base.csv" "$work/base.csv" --max-regress lots

# Sweeps are compared point by point.
sed 's/^/k,/; 1!s/^k/1/' "$work/base.csv" >"$work/sweep1.csv"
sed 1d "$work/base.csv" | sed 's/^/2,/' >>"$work/sweep1.csv"
sed 's/^2,a,100/2,a,101/' "$work/sweep1.csv" >"$work/sweep2.csv"
run check "$work/sweep1.csv" "$work/sweep2.csv"
check "a point of a sweep: status 1" status 1
check "a point of a sweep: names its keys" has "a k=2"
rejects "sweep1.csv:1: 1 swept keys" check "$work/base.csv" "$work/sweep1.csv"
finish
