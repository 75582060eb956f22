# Roofline with every level as a roof: draws the CSV of `coalign model CONFIG -o FILE.csv`.
#
#   gnuplot -e "data='FILE.csv'; output='STEM'" plots/roofline.gp      writes STEM.png and STEM.svg
#
# Across: warp instructions for each byte that a level must move; up: warp instructions a second. A line is the bandwidth
# of a level, the flat one the issue slots of all schedulers. Every case has a mark under each roof, at the height that
# its longest lower bound allows: no run is above it. A mark near a roof is bound by that level; a mark near none is
# bound by something that is no bandwidth, such as latency or bank conflicts. (Instruction roofline: N. Ding and S.
# Williams, PMBS 2019.)

if (!exists("data") || !exists("output")) {
    print "usage: gnuplot -e \"data='FILE.csv'; output='STEM'\" plots/roofline.gp"
    exit status 2
}

set datafile separator ","
set datafile missing "n/a"
set datafile columnheaders

# Okabe and Ito's palette, dark enough for thin lines; marks differ in shape too.
array colours[7] = ["#00507F", "#A34700", "#007A5A", "#8F3A73", "#5E5E00", "#3A3A3A", "#B3700A"]
array shapes[7] = [7, 5, 9, 11, 13, 15, 3]

levels = ""
cases = 0
machine = ""
peak = 0
left = 1e300
right = 0
low = 1e300
previous = ""
bandwidths = ""
seen(list, name) = strstrt(list, "|".name."|") > 0
look(case, name, row, level, bandwidth, x, y, top) = row ne "roof" ? 0 : ( \
    machine = name, peak = top, \
    levels = seen(levels, level) ? levels : (bandwidths = bandwidths.sprintf(" %.9g", bandwidth), levels."|".level."|"), \
    left = x > 0 && x < left ? x : left, right = x > right ? x : right, low = y > 0 && y < low ? y : low, 1)
stats data using (look(strcol("case"), strcol("machine"), strcol("row"), strcol("name"), \
                       column("bandwidth_gb_per_s"), column("inst_per_byte"), column("predicted_ginst_per_s"), \
                       column("peak_ginst_per_s"))) nooutput
if (peak == 0) {
    print "no roofs in ".data
    exit status 2
}
names = ""
do for [i = 1 : strlen(levels)] { names = names.(levels[i : i] eq "|" ? " " : levels[i : i] eq " " ? "_" : levels[i : i]) }
count = words(names)

# The crossings of all roofs with the flat one lie inside.
do for [i = 1 : count] {
    ridge = peak / real(word(bandwidths, i))
    left = ridge < left ? ridge : left
    right = ridge > right ? ridge : right
}
left = left / 4
right = right * 4
low = low / 3

set logscale xy
set xrange [left : right]
set yrange [low : peak * 2.2]
set xlabel "warp instructions for each byte that the level has to move"
set ylabel "warp instructions a second [10^9]"
set format x "%g"
set format y "%g"
set title "Roofline of ".machine.": every case under every level, at its lower bound of time" font ",15"
set grid xtics ytics linecolor "#DDDDDD" linewidth 0.6
set border 3 linecolor "#404040"
set tics nomirror
set key outside right top Left reverse samplen 2
set samples 2000

bandwidth(i) = real(word(bandwidths, i))
roof(i, x) = bandwidth(i) * x < peak ? bandwidth(i) * x : NaN
ceiling = 1e300
do for [i = 1 : count] { ceiling = peak / bandwidth(i) < ceiling ? peak / bandwidth(i) : ceiling }

label_of(i) = sprintf("%s, %.0f GB/s", word(names, i), bandwidth(i))
is(row, name, i) = row eq "roof" && name eq word(names, i)
# A case's name stands beside its mark of the last level, unless one does already at about that height.
placed = ""
free(y) = (placed eq "" ? 1 : (sum [k = 1 : words(placed)] (abs(log(real(word(placed, k)) / y)) < 0.06 ? 1 : 0)) == 0)
named(row, name, y) = is(row, name, count) && free(y) ? (placed = placed.sprintf(" %.9g", y), 1) : 0

do for [format in "png svg"] {
    if (format eq "png") {
        set terminal pngcairo size 1300,780 font "DejaVu Sans,13" linewidth 1.4 background "white"
    } else {
        set terminal svg size 1000,600 font "DejaVu Sans,12" linewidth 1.2 background "white" enhanced
    }
    set output output.".".format
    placed = ""
    plot \
        (x >= ceiling ? peak : NaN) with lines linecolor rgb "#000000" linewidth 1.5 \
            title sprintf("issue slots, %.0f Ginst/s", peak), \
        for [i = 1 : count] roof(i, x) with lines linecolor rgb colours[(i - 1) % 7 + 1] linewidth 1.5 \
            title label_of(i) noenhanced, \
        for [i = 1 : count] data using \
            (is(strcol("row"), strcol("name"), i) ? column("inst_per_byte") : NaN):(column("predicted_ginst_per_s")) \
            with points pointtype shapes[(i - 1) % 7 + 1] pointsize 2.4 - 0.35 * (i - 1) linecolor rgb colours[(i - 1) % 7 + 1] notitle, \
        data using (named(strcol("row"), strcol("name"), column("predicted_ginst_per_s")) ? column("inst_per_byte") : NaN): \
            (column("predicted_ginst_per_s")):(strcol("case")." (".strcol("strategy").")") \
            with labels left offset 1.2,0 font ",10" textcolor rgb "#404040" noenhanced notitle
    unset output
}
