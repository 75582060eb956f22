#include "model/arithmetic.h"

#include <math.h>

double stream_bytes_per_s(double line_bytes, double clocks_per_line, double clock_hz) {
    return line_bytes * clock_hz / clocks_per_line;
}

double lane_ops_per_s(double clock_hz, double cores, double lanes) {
    return clock_hz * cores * lanes;
}

double ops_per_value(double ops_per_s, double bytes_per_s, double value_bytes) {
    return ops_per_s / (bytes_per_s / value_bytes);
}

double warp_issue_clocks(uint32_t warp_lanes, uint32_t unit_lanes) {
    return warp_lanes > unit_lanes ? (double)warp_lanes / unit_lanes : 1;
}

uint32_t warps_to_hide(double latency_clocks, double issue_clocks) {
    return (uint32_t)ceil(latency_clocks / issue_clocks);
}

double insts_to_hide(double latency_clocks, uint32_t warps, double issue_clocks) {
    return latency_clocks / (warps * issue_clocks);
}

double wasted_share(uint32_t access_bytes, uint32_t granule_bytes) {
    const uint32_t rest = access_bytes % granule_bytes;
    const double fetched = (double)access_bytes + (rest ? granule_bytes - rest : 0);
    return 1 - access_bytes / fetched;
}

double units_per_s(double bytes_per_s, double unit_bytes) {
    return bytes_per_s / unit_bytes;
}

double hits_per_miss(double access_rate, double miss_rate) {
    return fmax(access_rate / miss_rate - 1, 0);
}

double hit_rate(double access_rate, double miss_rate) {
    return fmax(1 - miss_rate / access_rate, 0);
}

double bytes_in_flight(double latency_s, double bytes_per_s) {
    return latency_s * bytes_per_s;
}

bool texel_rectangle(uint32_t line_bytes, uint32_t texel_bits, uint32_t *width, uint32_t *height) {
    const uint64_t bits = (uint64_t)line_bytes * 8;
    if (!texel_bits || bits % texel_bits)
        return 0;
    const uint64_t texels = bits / texel_bits;
    if (texels & (texels - 1))
        return 0;
    const uint32_t log2 = (uint32_t)__builtin_ctzll(texels);
    *height = 1u << log2 / 2;
    *width = 1u << (log2 - log2 / 2);
    return 1;
}
