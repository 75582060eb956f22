# When hoisting loads helps: speed and stalls against warps, operators and hoisted loads. Draws the CSV of
# `coalign hoist configs/hoist_curves.cfg -o FILE.csv`, whose cases are named "warps N", "operators N" and "loads".
#
#   gnuplot -e "data='FILE.csv'; output='STEM'" plots/hoist_curves.gp      writes STEM.png and STEM.svg

if (!exists("data") || !exists("output")) {
    print "usage: gnuplot -e \"data='FILE.csv'; output='STEM'\" plots/hoist_curves.gp"
    exit status 2
}

set datafile separator ","
set datafile missing NaN # rows of other panels do not interrupt a line
set datafile columnheaders

# Okabe and Ito's palette; as written and hoisted differ in shape as well.
before = "#A34700"
after = "#00507F"

is(kind, case) = word(case, 1) eq kind
x_of(case) = words(case) > 1 ? real(word(case, 2)) : NaN
# x of a row that belongs to the panel, else NaN.
at(kind, case, variant, wanted) = is(kind, case) && variant eq wanted ? x_of(case) : NaN
at_load(case, loads) = is("loads", case) ? loads : NaN

schedulers = 4 # of a core
long = "stall_long_scoreboard_cycles_per_warp"
# Everything else that a warp waits for.
others(unused) = column("stall_wait_cycles_per_warp") + column("stall_short_scoreboard_cycles_per_warp") \
    + column("stall_lg_throttle_cycles_per_warp") + column("stall_mio_throttle_cycles_per_warp") \
    + column("stall_math_pipe_throttle_cycles_per_warp") + column("stall_not_selected_cycles_per_warp") \
    + column("stall_branch_resolving_cycles_per_warp") + column("stall_drain_cycles_per_warp")

machine = ""
stats data using (machine = strcol("machine"), 1) nooutput

set border 3 linecolor "#404040"
set tics nomirror
set grid ytics linecolor "#DDDDDD" linewidth 0.6
set key top right Left reverse samplen 2 font ",10"

do for [format in "png svg"] {
    if (format eq "png") {
        set terminal pngcairo size 1500,820 font "DejaVu Sans,12" linewidth 1.4 background "white"
    } else {
        set terminal svg size 1200,660 font "DejaVu Sans,12" linewidth 1.2 background "white" enhanced
    }
    set output output.".".format
    set multiplot layout 2,3 title "Hoisted loads on ".machine.": speed above, what a warp waits for below" font ",15"

    set yrange [0:*]
    set ylabel "times as fast as written"
    set xlabel "warps per scheduler"
    set logscale x 2
    set xtics (0.25, 0.5, 1, 2, 4, 8, 16)
    set xrange [0.2:20]
    plot data using (at("warps", strcol("case"), strcol("variant"), "after") / schedulers):(column("speedup")) \
             with linespoints pointtype 7 linecolor rgb after title "4 loads hoisted", \
         1 linecolor rgb "#808080" dashtype 2 notitle
    unset logscale x
    set xtics autofreq
    set xrange [-0.5:*]
    set xlabel "operators (exp, log) between load and store"
    plot data using (at("operators", strcol("case"), strcol("variant"), "after")):(column("speedup")) \
             with linespoints pointtype 7 linecolor rgb after title "4 loads hoisted", \
         1 linecolor rgb "#808080" dashtype 2 notitle
    set xlabel "loads hoisted, of 12"
    set key top left
    plot data using (at_load(strcol("case"), column("hoisted_loads"))):(column("speedup")) \
             with linespoints pointtype 7 linecolor rgb after title "by loads hoisted", \
         1 linecolor rgb "#808080" dashtype 2 notitle

    set ylabel "cycles of a warp"
    set offsets 0, 0, graph 0.35, 0 # room for the key
    set key top left
    set format y "%.0s%c"
    set xlabel "warps per scheduler"
    set logscale x 2
    set xtics (0.25, 0.5, 1, 2, 4, 8, 16)
    set xrange [0.2:20]
    plot data using (at("warps", strcol("case"), strcol("variant"), "before") / schedulers):(column(long)) \
             with linespoints pointtype 13 linecolor rgb before title "Long Scoreboard, as written", \
         data using (at("warps", strcol("case"), strcol("variant"), "after") / schedulers):(column(long)) \
             with linespoints pointtype 7 linecolor rgb after title "Long Scoreboard, hoisted", \
         data using (at("warps", strcol("case"), strcol("variant"), "before") / schedulers):(others(0)) \
             with linespoints pointtype 12 dashtype 3 linecolor rgb before title "all other stalls, as written", \
         data using (at("warps", strcol("case"), strcol("variant"), "after") / schedulers):(others(0)) \
             with linespoints pointtype 6 dashtype 3 linecolor rgb after title "all other stalls, hoisted"
    unset logscale x
    set xtics autofreq
    set xrange [-0.5:*]
    set xlabel "operators (exp, log) between load and store"
    set key top right
    plot data using (at("operators", strcol("case"), strcol("variant"), "before")):(column(long)) \
             with linespoints pointtype 13 linecolor rgb before title "Long Scoreboard, as written", \
         data using (at("operators", strcol("case"), strcol("variant"), "after")):(column(long)) \
             with linespoints pointtype 7 linecolor rgb after title "Long Scoreboard, hoisted", \
         data using (at("operators", strcol("case"), strcol("variant"), "before")):(others(0)) \
             with linespoints pointtype 12 dashtype 3 linecolor rgb before title "all other stalls, as written", \
         data using (at("operators", strcol("case"), strcol("variant"), "after")):(others(0)) \
             with linespoints pointtype 6 dashtype 3 linecolor rgb after title "all other stalls, hoisted"
    set xlabel "loads hoisted, of 12"
    set key top right
    plot data using (at_load(strcol("case"), column("hoisted_loads"))):(column(long)) \
             with linespoints pointtype 7 linecolor rgb after title "Long Scoreboard", \
         data using (at_load(strcol("case"), column("hoisted_loads"))):(others(0)) \
             with linespoints pointtype 6 dashtype 3 linecolor rgb after title "all other stalls"
    unset multiplot
    unset format
    unset offsets
    unset output
}
