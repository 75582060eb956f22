# What one warp does in a turn of the loop, as written and hoisted: draws the CSV of `coalign hoist FILE --timeline FILE.csv`.
#
#   gnuplot -e "data='FILE.csv'; output='STEM'" plots/timeline.gp      writes STEM.png and STEM.svg
#
# Above, a block for each instruction that issues, over the cycles until the next one can; below, a bar for each load from
# its issue to the arrival of its data. `entry` draws another case than the first.

if (!exists("data") || !exists("output")) {
    print "usage: gnuplot -e \"data='FILE.csv'; output='STEM'\" plots/timeline.gp"
    exit status 2
}

set datafile separator ","
set datafile missing "n/a"
set datafile columnheaders

load_fill = "#56B4E9"
store_fill = "#E69F00"
other_fill = "#606060"

if (!exists("entry")) entry = ""
stats data using (entry = entry eq "" ? strcol("case") : entry, 1) nooutput
last = 0
stats data using (last = strcol("case") eq entry && column("cycle") > last ? column("cycle") : last, \
                  last = strcol("case") eq entry && column("ready") > last ? column("ready") : last, 1) nooutput

mine(case, variant, wanted) = case eq entry && variant eq wanted
kind(class) = class eq "load" || class eq "shared_load" ? 1 : class eq "store" || class eq "shared_store" ? 2 : 0
width = last / 220.0
width = width < 1 ? 1 : width

set border 1 linecolor "#404040"
unset ytics
set xtics nomirror
set xlabel "cycles from the beginning of the turn"
set xrange [0 : last * 1.02]
set yrange [-0.2 : 4.6]
set style fill solid 1.0 noborder
set key outside top center horizontal samplen 1.5 font ",11"
set label 1 "as written" at graph -0.01, first 3.9 right
set label 2 "issue" at graph -0.01, first 3.6 right font ",10" textcolor "#606060"
set label 3 "loads" at graph -0.01, first 2.8 right font ",10" textcolor "#606060"
set label 4 "hoisted" at graph -0.01, first 1.5 right
set label 5 "issue" at graph -0.01, first 1.2 right font ",10" textcolor "#606060"
set label 6 "loads" at graph -0.01, first 0.4 right font ",10" textcolor "#606060"
set lmargin 14

# Rows of bars: loads alternate between four heights, so that those in flight together can be told apart.
turn = 0
height(base) = (turn = turn + 1, base + 0.22 * (turn % 4))

do for [format in "png svg"] {
    if (format eq "png") {
        set terminal pngcairo size 1400,520 font "DejaVu Sans,12" linewidth 1.2 background "white"
    } else {
        set terminal svg size 1120,420 font "DejaVu Sans,12" linewidth 1.0 background "white" noenhanced
    }
    set output output.".".format
    set title entry noenhanced font ",14"
    turn = 0
    plot \
        data using (mine(strcol("case"), strcol("variant"), "as written") ? column("cycle") : NaN):(3.6): \
            (column("cycle")):(column("cycle") + width):(3.4):(4.0) \
            with boxxyerror linecolor rgb other_fill title "other instruction", \
        data using (mine(strcol("case"), strcol("variant"), "as written") && kind(strcol("class")) == 1 ? \
            column("cycle") : NaN):(3.6):(column("cycle")):(column("cycle") + width):(3.4):(4.0) \
            with boxxyerror linecolor rgb load_fill title "load", \
        data using (mine(strcol("case"), strcol("variant"), "as written") && kind(strcol("class")) == 2 ? \
            column("cycle") : NaN):(3.6):(column("cycle")):(column("cycle") + width):(3.4):(4.0) \
            with boxxyerror linecolor rgb store_fill title "store", \
        data using (mine(strcol("case"), strcol("variant"), "as written") && kind(strcol("class")) == 1 ? \
            column("cycle") : NaN):(y = height(2.5)):(column("cycle")):(column("ready")):(y - 0.08):(y + 0.08) \
            with boxxyerror linecolor rgb load_fill notitle, \
        data using (mine(strcol("case"), strcol("variant"), "hoisted") ? column("cycle") : NaN):(1.2): \
            (column("cycle")):(column("cycle") + width):(1.0):(1.6) \
            with boxxyerror linecolor rgb other_fill notitle, \
        data using (mine(strcol("case"), strcol("variant"), "hoisted") && kind(strcol("class")) == 1 ? \
            column("cycle") : NaN):(1.2):(column("cycle")):(column("cycle") + width):(1.0):(1.6) \
            with boxxyerror linecolor rgb load_fill notitle, \
        data using (mine(strcol("case"), strcol("variant"), "hoisted") && kind(strcol("class")) == 2 ? \
            column("cycle") : NaN):(1.2):(column("cycle")):(column("cycle") + width):(1.0):(1.6) \
            with boxxyerror linecolor rgb store_fill notitle, \
        data using (mine(strcol("case"), strcol("variant"), "hoisted") && kind(strcol("class")) == 1 ? \
            column("cycle") : NaN):(y = height(0.1)):(column("cycle")):(column("ready")):(y - 0.08):(y + 0.08) \
            with boxxyerror linecolor rgb load_fill notitle
    unset output
}
