# Miss-ratio curves: draws CSVs of `coalign trace mrc TRACE -o FILE.csv`.
#
#   gnuplot -e "data='ONE.csv TWO.csv'; output='STEM'" plots/miss_ratio.gp       writes STEM.png and STEM.svg
#
# A curve is named after its file. Where it was sampled, a band around it is the 95 % interval.

if (!exists("data") || !exists("output")) {
    print "usage: gnuplot -e \"data='FILE.csv ...'; output='STEM'\" plots/miss_ratio.gp"
    exit status 2
}

set datafile separator ","
set datafile missing "n/a"
set datafile columnheaders

# Okabe and Ito's palette keeps its distance under all common kinds of colour blindness; dashes tell curves apart where
# there is no colour.
palette = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
colour(i) = word(palette, (i - 1) % 7 + 1)
stem(path) = (slash = strstrt(path, "/"), slash > 0 ? stem(path[slash + 1:*]) : path)
name(path) = (file = stem(path), dot = strstrt(file, ".csv"), dot > 1 ? file[1:dot - 1] : file)

least = 1e300
most = 0
do for [file in data] {
    stats file using (column("cache_bytes")) nooutput
    if (STATS_records == 0) {
        print "no sizes in ".file
        exit status 2
    }
    least = STATS_min < least ? STATS_min : least
    most = STATS_max > most ? STATS_max : most
}

set logscale x 2
set xrange [least : most]
set yrange [0 : 100]
# A label every two or four powers of two, so that they do not touch.
set xtics () font ",11"
powers = ceil(log(most / least) / log(2))
do for [i = 0 : 40] {
    bytes = 2.0 ** i
    if (bytes >= least && bytes <= most && i % (powers > 14 ? 2 : 1) == 0) {
        label = i < 10 ? sprintf("%d B", bytes) : i < 20 ? sprintf("%d KiB", bytes / 2 ** 10) : \
                i < 30 ? sprintf("%d MiB", bytes / 2 ** 20) : sprintf("%d GiB", bytes / 2 ** 30)
        set xtics add (label bytes)
    }
}
set xlabel "cache size"
set ylabel "misses [% of accesses to lines]"
set title "Miss-ratio curves, fully associative LRU caches" font ",15"
set grid xtics ytics linecolor "#DDDDDD" linewidth 0.6
set border 3 linecolor "#404040"
set tics nomirror
set key above center horizontal Left reverse samplen 3 noenhanced
set style fill transparent solid 0.2 noborder

do for [format in "png svg"] {
    if (format eq "png") {
        set terminal pngcairo size 1200,700 font "DejaVu Sans,13" linewidth 1.4 background "white"
    } else {
        set terminal svg size 960,560 font "DejaVu Sans,13" linewidth 1.2 background "white" enhanced
    }
    set output output.".".format
    plot for [i = 1 : words(data)] word(data, i) \
             using (column("cache_bytes")):(100 * column("low")):(100 * column("high")) \
             with filledcurves linecolor rgb colour(i) notitle, \
         for [i = 1 : words(data)] word(data, i) using (column("cache_bytes")):(100 * column("miss_ratio")) \
             with lines linewidth 2 dashtype i linecolor rgb colour(i) title name(word(data, i))
    unset output
}
