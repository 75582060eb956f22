# Counts a kernel of Accel-Sim, tracer versions 3 to 5 without lines of the source, independently of the reader: prints
# warp instructions, requests and 32-byte sectors of loads, of stores, and shared requests of loads, of stores.
function hex(text,  i, v) {
    sub(/^0[xX]/, "", text)
    v = 0
    for (i = 1; i <= length(text); i++)
        v = v * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
    return v
}
function touch(at, bytes,  s, key) {
    for (s = int(at / 32); s <= int((at + bytes - 1) / 32); s++) {
        key = sprintf("%.0f", s) # as a number mawk would round it
        if (!(key in seen)) { seen[key] = 1; touched++ }
    }
}
/^[0-9a-f]+ [0-9a-f]+ [01] / {
    insts++
    at = 4 + $3
    name = $at
    at += 2 + $(at + 1)
    if (!$at) next
    lanes = 0
    bits = $2
    for (i = 1; i <= length(bits); i++) {
        n = hex(substr(bits, i, 1))
        for (; n; n = int(n / 2)) lanes += n % 2
    }
    shared = name ~ /^(LDS|STS)/
    store = name ~ /^ST/
    if (!lanes) next
    if (shared) { shared_requests[store]++; next }
    bytes = name ~ /\.128/ ? 16 : name ~ /\.64/ ? 8 : name ~ /\.[US]?16/ ? 2 : name ~ /\.[US]?8(\.|$)/ ? 1 : 4
    split("", seen)
    touched = 0
    a = hex($(at + 2))
    for (k = 0; k < lanes; k++) {
        touch($(at + 1) == 0 ? hex($(at + 2 + k)) : a, bytes)
        a += $(at + 1) == 1 ? $(at + 3) : $(at + 3 + k)
    }
    requests[store]++
    sectors[store] += touched
}
END {
    printf "%d %d %d %d %d %d %d\n", insts, requests[0], sectors[0], requests[1], sectors[1], shared_requests[0],
        shared_requests[1]
}
