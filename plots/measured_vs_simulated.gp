# Copy strategies before and after, measured against simulated: draws the CSV of `coalign run CONFIG -o FILE.csv`.
#
#   gnuplot -e "data='FILE.csv'; output='STEM'" plots/measured_vs_simulated.gp      writes STEM.png and STEM.svg
#
# A bar is a measured time, the mark on it the simulated one, the figure above them the error of the simulated time. The
# k-th row of a sorted strategy stands beside the k-th row of an unsorted one: list the datasets in the same order.

if (!exists("data") || !exists("output")) {
    print "usage: gnuplot -e \"data='FILE.csv'; output='STEM'\" plots/measured_vs_simulated.gp"
    exit status 2
}

set datafile separator ","
set datafile missing "n/a"
set datafile columnheaders

# Okabe and Ito's palette keeps its distance under all common kinds of colour blindness: bars in a tint, marks in a
# shade. The marks differ in shape as well.
before_bar = "#F4CDAF"
before_mark = "#A34700"
after_bar = "#AFD3EA"
after_mark = "#00507F"

is_sorted(strategy) = strstrt(strategy, "sorted") > 0
# Number of a row among those of its kind, from 1; NaN for the other kind. `seen` is to be 0 before each pass.
seen = 0
place(kind, strategy) = is_sorted(strategy) == kind ? (seen = seen + 1) : NaN

machine = ""
before = 0
after = 0
least = 1e300
most = 0
known = 0
# Labels: first word of the case and dataset, of the kind that comes first.
entries = ""
shapes = ""
look(strategy, case, name, shape, measured, predicted) = ( \
    known = measured > 0 ? known + 1 : known, \
    new = !(is_sorted(strategy) && before > 0), \
    entries = new ? entries." ".word(case, 1) : entries, shapes = new ? shapes." ".shape : shapes, \
    machine = name, before = before + !is_sorted(strategy), after = after + is_sorted(strategy), \
    least = measured < least ? measured : least, least = predicted < least ? predicted : least, \
    most = measured > most ? measured : most, most = predicted > most ? predicted : most, 1)
stats data using (look(strcol("strategy"), strcol("case"), strcol("machine"), strcol("dataset"), \
                       column("measured_us"), column("predicted_us"))) nooutput
if (known == 0) {
    print "no measured times in ".data
    exit status 2
}
places = before > after ? before : after

# Bars on a logarithmic axis need a foot to stand on: about half the shortest time.
foot = 10 ** floor(log10(least / 2)) * floor(least / 2 / 10 ** floor(log10(least / 2)))
set logscale y
set yrange [foot : most * 1.5]
set xrange [0.4 : places + 0.6]
set format y "%.0f"
set ytics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000)
set ylabel "time of one copy [{/Symbol m}s], logarithmic"
set title "Array copies on ".machine.": general kernel before and after sorting by stride" offset 0,1.4 font ",15"
set grid ytics linecolor "#DDDDDD" linewidth 0.6
set border 3 linecolor "#404040"
set tics nomirror
set xtics () font ",10" noenhanced
do for [i = 1 : places] { set xtics add (word(entries, i)."\n".word(shapes, i) i) }
set key at graph 0.5, 1.035 center horizontal Left reverse samplen 2 maxrows 1
set tmargin 5
set bmargin 3.5
set style fill solid 1.0 noborder

half = 0.19     # of a bar's width
offset = 0.205  # of a bar's middle from the middle of its pair
shift(kind) = kind ? offset : -offset
top(a, b) = a > b ? a : b
error(percent) = sprintf("%+.0f %%", percent)

do for [format in "png svg"] {
    if (format eq "png") {
        set terminal pngcairo size 1400,800 font "DejaVu Sans,13" linewidth 1.4 background "white"
    } else {
        set terminal svg size 1050,600 font "DejaVu Sans,13" linewidth 1.2 background "white" enhanced
    }
    set output output.".".format
    seen = 0
    plot \
        data using (place(0, strcol("strategy")) + shift(0)):(column("measured_us")):(2 * half) \
            with boxes linecolor rgb before_bar title "unsorted, measured", \
        seen = 0, \
        data using (place(1, strcol("strategy")) + shift(1)):(column("measured_us")):(2 * half) \
            with boxes linecolor rgb after_bar title "sorted, measured", \
        seen = 0, \
        data using (place(0, strcol("strategy")) + shift(0)):(column("predicted_us")) \
            with points pointtype 13 pointsize 1.8 linecolor rgb before_mark title "unsorted, simulated (error)", \
        seen = 0, \
        data using (place(1, strcol("strategy")) + shift(1)):(column("predicted_us")) \
            with points pointtype 7 pointsize 1.5 linecolor rgb after_mark title "sorted, simulated (error)", \
        seen = 0, \
        data using (place(0, strcol("strategy")) + shift(0)):(top(column("measured_us"), column("predicted_us"))): \
            (error(column("error_pct"))) with labels offset 0,0.9 font ",10" textcolor rgb before_mark notitle, \
        seen = 0, \
        data using (place(1, strcol("strategy")) + shift(1)):(top(column("measured_us"), column("predicted_us"))): \
            (error(column("error_pct"))) with labels offset 0,0.9 font ",10" textcolor rgb after_mark notitle
    unset output
}
