/* arithmetic.h - rules of thumb between compute and memory, as functions of plain numbers.
 *
 * Sources: "Memory and Caches" (blog of 2008-04-26 on G80 and a made-up CPU), whose figures are in
 * tests/golden/memory_arithmetic.csv; J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", 1961. Rates are
 * per second, times in seconds or in clocks as named. Inputs are positive; a result that would divide by zero is
 * infinite.
 */
#ifndef COALIGN_MODEL_ARITHMETIC_H
#define COALIGN_MODEL_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes a second of a stream that takes `clocks` for each line: 128 B every 200 clocks at 2 GHz are 1.28 GB/s. */
double stream_bytes_per_s(double line_bytes, double clocks_per_line, double clock_hz);

/* Operations a second of all lanes: clock x cores x lanes, one operation a lane and clock. */
double lane_ops_per_s(double clock_hz, double cores, double lanes);

/* Operations that have to go with each value read, so that arithmetic takes as long as reading does. */
double ops_per_value(double ops_per_s, double bytes_per_s, double value_bytes);

/* Clocks for which one issuer is busy with one warp instruction: lanes of the warp over lanes of the unit. */
double warp_issue_clocks(uint32_t warp_lanes, uint32_t unit_lanes);

/* Warps that hide a fixed latency when each has one instruction under way: latency / issue, rounded up. */
uint32_t warps_to_hide(double latency_clocks, double issue_clocks);

/* Instructions of each warp, its load among them, that cover one load of that latency when `warps` take turns. */
double insts_to_hide(double latency_clocks, uint32_t warps, double issue_clocks);

/* Share of the transferred bytes that nobody asked for when accesses of `bytes` at random aligned places fetch whole
 * granules: 16 B of 32 B waste 0.5. */
double wasted_share(uint32_t access_bytes, uint32_t granule_bytes);

/* Units (lines, sectors) a second that a bandwidth brings. */
double units_per_s(double bytes_per_s, double unit_bytes);

/* Hits that must follow each miss, so that `access_rate` is met by `miss_rate` fetches; and the hit rate, 0 .. 1. */
double hits_per_miss(double access_rate, double miss_rate);
double hit_rate(double access_rate, double miss_rate);

/* Little's law: bytes that must be under way, so that latency does not limit the bandwidth. */
double bytes_in_flight(double latency_s, double bytes_per_s);

/* The nearly square rectangle of texels that fills a line, wide rather than high: 32 texels are 8 x 4. False when the
 * texels of a line are no power of two. */
bool texel_rectangle(uint32_t line_bytes, uint32_t texel_bits, uint32_t *width, uint32_t *height);

#endif
