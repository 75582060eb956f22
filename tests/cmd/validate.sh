#!/usr/bin/env bash
# coalign validate as a user meets it. Ends with "validate: N passed, N failed".
. tests/cmd/harness.bash

strides=configs/validation/strides_a100.cfg

# Three strides whose passes follow from the addresses alone: gcd(stride, 32) data passes (cases.md 10; gpu-benches).
cat >"$work/measured.csv" <<'CSV'
# made for this test
set,case,x,metric,unit,value,low,high,source
other,float stride,4,data wavefronts,wavefront,99,,,
strides_a100,float stride,4,data wavefronts,wavefront,4,3.9,4.1,here
strides_a100,float stride,4,tag wavefronts,wavefront,n/a,,,here
strides_a100,float stride,8,data wavefronts,wavefront,8,,,here
strides_a100,float stride,8,cycles,cycle,8.0,,,here
strides_a100,float stride,999,cycles,cycle,1,,,here
CSV
run validate -q "$strides" --measured "$work/measured.csv"
check "status 0" status 0
check "100 columns" narrow
check "a point without a case is said" has "cycles: 1 points have no prediction"
check "a point without a value has no error" has "n/a"

run validate -q "$strides" --measured "$work/measured.csv" --format csv
check "csv: columns" has "set,case,x,metric,unit,predicted,measured,low,high,error"
check "csv: exact passes" has "strides_a100,float stride,4,data wavefronts,wavefront,4,4,3.9,4.1,0"
check "csv: not known" has "strides_a100,float stride,999,cycles,cycle,n/a,1,n/a,n/a,n/a"

run validate -q "$strides" --measured "$work/measured.csv" --format json
check "json: statistics" has '"mape_pct": 0.0'
check "json: null for what is not known" has '"predicted": null'

# Beyond the tolerance: exit status 1 and a word why, results all the same.
sed 's/,8,data wavefronts,wavefront,8,/,8,data wavefronts,wavefront,7,/' "$work/measured.csv" >"$work/off.csv"
run validate -q "$strides" --measured "$work/off.csv"
check "off: status 1" status 1
check "off: why" has "data wavefronts: 50.0 % of the points are within 0 %; 100 % should be"
check "off: stderr" says "strides_a100 is beyond its tolerance"

rejects "no group 'validation'" validate -q configs/copy_strategies.cfg
rejects "No such file" validate -q "$strides" --measured "$work/none.csv"
printf 'set,case,metric,value\nstrides_a100,float stride,cycles,fast\n' >"$work/bad.csv"
rejects "bad.csv:2: 'fast' in column 'value' is no number" validate -q "$strides" --measured "$work/bad.csv"
printf 'set,case,metric\n' >"$work/bad.csv"
rejects "bad.csv:1: the header has no column 'value'" validate -q "$strides" --measured "$work/bad.csv"
printf 'set,case,metric,value\nx,y,z,1\n' >"$work/bad.csv"
rejects "no row is of the set 'strides_a100'" validate -q "$strides" --measured "$work/bad.csv"
printf 'set,case,metric,value\n"x,y,z,1\n' >"$work/bad.csv"
rejects "this is no CSV" validate -q "$strides" --measured "$work/bad.csv"
rejects "the body has no integer param 'turn'" run -q "$strides" -D 'cases.0.params={turn=3;}'
finish
