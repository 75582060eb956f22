#!/usr/bin/env bash
# make install: every file in its place, and the installed program finds them from anywhere; man page and completions.
. "$(dirname "$0")/harness.bash"

program=$(realpath "$program")
top=$PWD
touch "$work/out" "$work/err"
# Not rebuilt: the program and its configuration are those under test.
case $program in
*/build/*) config=$(basename "$(dirname "$program")") ;;
*) config=release ;;
esac
stage=$work/stage
make --no-print-directory CONFIG="$config" -o "${program#"$top"/}" install DESTDIR="$stage" >"$work/out" 2>"$work/err"
check "make install" [ $? -eq 0 ]
prefix=$stage/usr/local
for file in bin/coalign share/man/man1/coalign.1 share/bash-completion/completions/coalign \
    share/zsh/site-functions/_coalign share/coalign/models/v100.cfg share/coalign/models/isa/gfx1100.cfg \
    share/coalign/plots/measured_vs_simulated.gp share/coalign/configs/futhark_copy.cfg; do
    check "installed: $file" [ -s "$prefix/$file" ]
done
mv "$prefix" "$work/moved"
printf 'machine = "v100"; cases = ( { dataset = "[64]i32"; } );\n' >"$work/x.cfg"
cd "$work" || exit 1
unset COALIGN_MODELS
program=$work/moved/bin/coalign
run run -q x.cfg
check "moved elsewhere, from another folder: finds its machines" [ "$code" -eq 0 ]
run machines --format csv
check "all of them" [ "$(sed 1d "$work/out" | wc -l)" -eq "$(find "$top/models" -maxdepth 1 -name '*.cfg' | wc -l)" ]

# The man page has every command and option, and troff has no complaint.
run help --as man
cp "$work/out" "$work/coalign.1"
commands=$("$program" --help | sed -n '/^usage/,/^ *-h/s/^  \([a-z]\{2,\}\) .*/\1/p')
check "there are commands" [ "$(wc -w <<<"$commands")" -ge 10 ]
for c in $commands; do
    check "man: $c" grep -q "^\.SS \"coalign $c " "$work/coalign.1"
    for o in $("$program" "$c" --help | grep -o '^  .\{4\}--[a-z-]*' | grep -o -e '--.*' | grep -v -e --help -e --version); do
        check "man: $c $o" grep -qF -- "$(sed 's/-/\\-/g' <<<"$o")" <(sed -n "/^\.SS \"coalign $c /,/^\.S[SH] \"*[^$c]/p" "$work/coalign.1")
    done
done
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww -P-c "$work/coalign.1" >"$work/out" 2>"$work/err"
    check "man: troff has no complaint" [ ! -s "$work/err" ]
    sed -i 's/.\x08//g' "$work/out" # bold is a letter twice
    check "man: 100 columns" narrow
fi

# bash completes commands, options, machines.
complete_in_bash() { # WORD... : what bash offers for the last
    PATH=$work/moved/bin:$PATH bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coalign; printf "%s\n" "${COMPREPLY[@]}"' \
        "$work/moved/share/bash-completion/completions/coalign" "$@"
}
check "bash: commands" [ "$(complete_in_bash coalign sw)" = sweep ]
check "bash: options of a command" [ "$(complete_in_bash coalign sweep --sh)" = --shard ]
check "bash: not those of others" [ -z "$(complete_in_bash coalign run --sh)" ]
check "bash: machines" grep -qx v100 <(complete_in_bash coalign run -m v)
if command -v zsh >/dev/null; then
    check "zsh: syntax" zsh -n "$work/moved/share/zsh/site-functions/_coalign"
fi
run help --as html
check "help --as html: refused" refused "--as html: unknown form"

cd "$top" || exit 1
make --no-print-directory CONFIG="$config" uninstall DESTDIR="$work" PREFIX=/moved >"$work/out" 2>"$work/err"
check "make uninstall leaves no file" [ -z "$(find "$work/moved" -type f)" ]
finish
