#include "sim/coalesce.h"

#include <string.h>

void coalescer_init(coalescer *c, const machine *mach) {
    *c = (coalescer){.lsu = &mach->lsu,
                     .warp_width = mach->core.warp_width,
                     .line_bytes = MACHINE_LINE_MAX,
                     .sector_bytes = MACHINE_BARE_SECTOR};
    if (mach->level_count) {
        c->line_bytes = mach->level[0].line_bytes;
        c->sector_bytes = mach->level[0].sector_bytes;
    }
}

static int64_t lane_address(const warp_access *a, uint32_t lane) {
    return a->affine ? a->base + (int64_t)lane * a->stride : a->lane[lane];
}

/* --- passes --------------------------------------------------------------------------------------------------------
 */

static uint32_t gcd32(uint32_t a, uint32_t b) {
    while (b) {
        const uint32_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Most distinct words that one bank has to deliver to the lanes of `mask`, by looking at every word. */
static uint32_t group_passes(const warp_access *a, uint64_t mask, uint32_t bytes, uint32_t banks, uint32_t bank_bytes) {
    enum { TABLE = 2048 };
    int64_t seen[TABLE];
    uint16_t per_bank[256] = {0};
    uint8_t taken[TABLE / 8] = {0};
    uint32_t most = 0;
    for (; mask; mask &= mask - 1) {
        const int64_t address = lane_address(a, (uint32_t)__builtin_ctzll(mask));
        const int64_t first = address / bank_bytes, last = (address + (int64_t)bytes - 1) / bank_bytes;
        for (int64_t word = first; word <= last; word++) {
            uint32_t h = (uint32_t)((uint64_t)word * UINT64_C(0x9e3779b97f4a7c15) >> 53);
            while ((taken[h / 8] >> h % 8 & 1) && seen[h] != word)
                h = (h + 1) % TABLE;
            if (taken[h / 8] >> h % 8 & 1)
                continue;
            taken[h / 8] = (uint8_t)(taken[h / 8] | 1u << h % 8);
            seen[h] = word;
            const uint32_t bank = (uint32_t)((uint64_t)word % banks);
            if (++per_bank[bank] > most)
                most = per_bank[bank];
        }
    }
    return most;
}

uint32_t bank_passes(const warp_access *a, uint32_t bytes, uint32_t warp_width, uint32_t banks, uint32_t bank_bytes,
                     uint32_t *ideal) {
    if (!a->mask) {
        *ideal = 0;
        return 0;
    }
    const uint32_t pass_bytes = banks * bank_bytes;
    /* Lanes that one pass can serve at full width: all for 4 bytes, a half for 8, a quarter for 16. */
    uint32_t group = bytes * warp_width > pass_bytes ? pass_bytes / bytes : warp_width;
    if (group == 0)
        group = 1;
    const uint64_t group_mask = group >= 64 ? UINT64_MAX : (UINT64_C(1) << group) - 1;
    *ideal = 0;
    uint32_t passes = 0;
    const bool word_affine = a->affine && bytes % bank_bytes == 0 && a->stride % (int64_t)bank_bytes == 0 &&
                             a->base % (int64_t)bank_bytes == 0 && (banks & (banks - 1)) == 0;
    for (uint32_t first = 0; first < warp_width; first += group) {
        const uint64_t mask = a->mask >> first & group_mask;
        if (!mask)
            continue;
        ++*ideal;
        if (word_affine && mask == group_mask) {
            const uint32_t words = bytes / bank_bytes;
            const uint64_t step = (uint64_t)(a->stride < 0 ? -a->stride : a->stride) / bank_bytes;
            if (step == 0) {
                passes += 1;
                continue;
            }
            if (words == 1) {
                /* Lanes a multiple of banks / gcd apart share a bank, and all words differ. */
                const uint32_t g = gcd32((uint32_t)(step % banks), banks);
                passes += (group * (g ? g : banks) + banks - 1) / banks;
                continue;
            }
        }
        passes += group_passes(a, mask << first, bytes, banks, bank_bytes);
    }
    return passes;
}

/* The bank of a line's tag: its number in base `banks`, digits added by XOR. */
static uint32_t tag_bank(uint64_t number, uint32_t banks) {
    const int digit = __builtin_ctz(banks);
    for (int shift = digit << 5; shift >= digit; shift >>= 1)
        if (shift < 64)
            number ^= number >> shift;
    return (uint32_t)number & (banks - 1);
}

/* A pass looks up tags of so many lines in each bank. */
static uint32_t tag_passes(const coalescer *c, const coalesced *x) {
    const uint32_t banks = c->lsu->tag_banks;
    const uint32_t share = c->lsu->tag_lines_per_pass / banks;
    if (banks == 1)
        return (x->count + share - 1) / share;
    uint16_t in_bank[64] = {0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        const uint32_t bank = tag_bank(x->item[i].line / c->line_bytes, banks);
        if (++in_bank[bank] > most)
            most = in_bank[bank];
    }
    return (most + share - 1) / share;
}

static uint32_t data_passes(coalescer *c, const warp_access *a, uint32_t bytes) {
    uint32_t ideal = 0;
    if (!a->affine)
        return bank_passes(a, bytes, c->warp_width, c->lsu->data_banks, c->lsu->data_bank_bytes, &ideal);
    const uint32_t phase = (uint32_t)((uint64_t)a->base % ((uint64_t)c->lsu->data_banks * c->lsu->data_bank_bytes));
    if (c->last_passes && c->last_stride == a->stride && c->last_mask == a->mask && c->last_phase == phase &&
        c->last_bytes == bytes)
        return c->last_passes;
    const uint32_t passes = bank_passes(a, bytes, c->warp_width, c->lsu->data_banks, c->lsu->data_bank_bytes, &ideal);
    c->last_stride = a->stride;
    c->last_mask = a->mask;
    c->last_phase = phase;
    c->last_bytes = bytes;
    c->last_passes = passes;
    return passes;
}

/* --- transactions --------------------------------------------------------------------------------------------------
 */

/* Adds bytes [address, address + count); `table` finds the line among the transactions so far. */
static void touch(const coalescer *c, coalesced *out, int16_t *table, uint64_t address, uint32_t count) {
    while (count) {
        const uint64_t line = address & ~(uint64_t)(c->line_bytes - 1);
        const uint32_t offset = (uint32_t)(address - line);
        const uint32_t here = count < c->line_bytes - offset ? count : c->line_bytes - offset;
        uint32_t h = (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 56);
        while (table[h] >= 0 && out->item[table[h]].line != line)
            h = (h + 1) & 255;
        if (table[h] < 0) {
            table[h] = (int16_t)out->count;
            out->item[out->count++] = (transaction){line, 0};
        }
        out->item[table[h]].mask |= bytemask_range(offset, here);
        address += here;
        count -= here;
    }
}

/* The transaction of a line that the lanes, visited in address order, have just met, or a new one. Never further back
 * than three: a first lane that straddles two lines leaves them as (n, n + 1), and descending lanes reach n - 1 and n
 * after. */
static transaction *recent(coalesced *out, uint64_t line) {
    for (uint32_t i = 1; i <= 3 && i <= out->count; i++)
        if (out->item[out->count - i].line == line)
            return &out->item[out->count - i];
    out->item[out->count] = (transaction){line, 0};
    return &out->item[out->count++];
}

/* Lanes in address order: each line is met once and in one go, no table is needed. */
static void by_stride(const coalescer *c, const warp_access *a, uint32_t bytes, coalesced *out) {
    const uint64_t line_mask = ~(uint64_t)(c->line_bytes - 1);
    const uint32_t lanes = (uint32_t)__builtin_popcountll(a->mask);
    const uint32_t low = (uint32_t)__builtin_ctzll(a->mask);
    const bool adjacent = ((a->mask >> low) & ((a->mask >> low) + 1)) == 0;
    if (adjacent && a->stride == (int64_t)bytes) {
        uint64_t address = (uint64_t)(a->base + (int64_t)low * a->stride);
        uint32_t left = lanes * bytes;
        while (left) {
            const uint64_t line = address & line_mask;
            const uint32_t offset = (uint32_t)(address - line);
            const uint32_t here = left < c->line_bytes - offset ? left : c->line_bytes - offset;
            out->item[out->count++] = (transaction){line, bytemask_range(offset, here)};
            address += here;
            left -= here;
        }
        return;
    }
    /* Downwards likewise, in the order in which the lanes meet the lines; aligned, so that no lane has two of them. */
    if (adjacent && a->stride == -(int64_t)bytes && (uint64_t)a->base % bytes == 0) {
        uint64_t end = (uint64_t)(a->base + (int64_t)low * a->stride) + bytes;
        uint32_t left = lanes * bytes;
        while (left) {
            const uint64_t line = (end - 1) & line_mask;
            const uint32_t here = left < end - line ? left : (uint32_t)(end - line);
            end -= here;
            out->item[out->count++] = (transaction){line, bytemask_range((uint32_t)(end - line), here)};
            left -= here;
        }
        return;
    }
    const bytemask lane_bytes = bytemask_range(0, bytes);
    for (uint64_t mask = a->mask; mask; mask &= mask - 1) {
        const uint64_t address = (uint64_t)(a->base + (int64_t)__builtin_ctzll(mask) * a->stride);
        const uint64_t line = address & line_mask;
        const uint32_t offset = (uint32_t)(address - line);
        const uint32_t here = bytes < c->line_bytes - offset ? bytes : c->line_bytes - offset;
        const bytemask bits = (here == bytes ? lane_bytes : bytemask_range(0, here)) << offset;
        recent(out, line)->mask |= bits;
        if (here < bytes)
            recent(out, line + c->line_bytes)->mask |= bytemask_range(0, bytes - here);
    }
}

static void by_lane(const coalescer *c, const warp_access *a, uint64_t mask, uint32_t bytes, coalesced *out) {
    int16_t table[256];
    memset(table, 0xff, sizeof table);
    for (; mask; mask &= mask - 1)
        touch(c, out, table, (uint64_t)lane_address(a, (uint32_t)__builtin_ctzll(mask)), bytes);
}

/* CC 1.0: does half warp `half` meet the rule? Inactive lanes are allowed. */
static bool strict_half(const warp_access *a, uint32_t first, uint64_t mask, uint32_t bytes) {
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return false;
    const uint32_t lane = (uint32_t)__builtin_ctzll(mask);
    const int64_t base = lane_address(a, lane) - (int64_t)(lane - first) * bytes;
    if (base % (int64_t)(16 * bytes) != 0)
        return false;
    for (; mask; mask &= mask - 1) {
        const uint32_t k = (uint32_t)__builtin_ctzll(mask);
        if (lane_address(a, k) != base + (int64_t)(k - first) * bytes)
            return false;
    }
    return true;
}

static void segment(const coalescer *c, coalesced *out, uint64_t address, uint32_t bytes) {
    while (bytes) { /* a segment is aligned to its size, so it never straddles a 128-byte line */
        const uint64_t line = address & ~(uint64_t)(c->line_bytes - 1);
        const uint32_t offset = (uint32_t)(address - line);
        const uint32_t here = bytes < c->line_bytes - offset ? bytes : c->line_bytes - offset;
        out->item[out->count++] = (transaction){line, bytemask_range(offset, here)};
        address += here;
        bytes -= here;
    }
}

static void half_warp_strict(const coalescer *c, const warp_access *a, uint32_t bytes, coalesced *out) {
    for (uint32_t first = 0; first < c->warp_width; first += 16) {
        uint64_t mask = a->mask & UINT64_C(0xffff) << first;
        if (!mask)
            continue;
        if (strict_half(a, first, mask, bytes)) {
            const uint32_t lane = (uint32_t)__builtin_ctzll(mask);
            const uint64_t base = (uint64_t)(lane_address(a, lane) - (int64_t)(lane - first) * bytes);
            segment(c, out, base, 16 * bytes);
            continue;
        }
        for (; mask; mask &= mask - 1) {
            const uint64_t address = (uint64_t)lane_address(a, (uint32_t)__builtin_ctzll(mask));
            const uint64_t start = address & ~UINT64_C(31), end = (address + bytes + 31) & ~UINT64_C(31);
            segment(c, out, start, (uint32_t)(end - start));
        }
    }
}

static void half_warp_segments(const coalescer *c, const warp_access *a, uint32_t bytes, coalesced *out) {
    const uint32_t size = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
    for (uint32_t first = 0; first < c->warp_width; first += 16) {
        uint64_t left = a->mask & UINT64_C(0xffff) << first;
        while (left) {
            const uint64_t lead = (uint64_t)lane_address(a, (uint32_t)__builtin_ctzll(left));
            const uint64_t start = lead & ~(uint64_t)(size - 1);
            uint64_t low = UINT64_MAX, high = 0, served = 0;
            for (uint64_t m = left; m; m &= m - 1) {
                const uint32_t lane = (uint32_t)__builtin_ctzll(m);
                const uint64_t address = (uint64_t)lane_address(a, lane);
                if (address < start || address >= start + size)
                    continue;
                const uint64_t end = address + bytes < start + size ? address + bytes : start + size;
                low = address < low ? address : low;
                high = end > high ? end : high;
                served |= UINT64_C(1) << lane;
            }
            uint64_t base = start;
            uint32_t length = size;
            while (length > 32) { /* only the lower or only the upper half used: halve */
                const uint32_t half = length / 2;
                if (high <= base + half)
                    length = half;
                else if (low >= base + half)
                    base += half, length = half;
                else
                    break;
            }
            segment(c, out, base, length);
            left &= ~served;
        }
    }
}

void coalesce(coalescer *c, const warp_access *a, uint32_t bytes, bool store, coalesced *out) {
    out->count = 0;
    out->data_passes = out->tag_milli = out->cycles_milli = out->sectors = 0;
    out->useful_bytes = (uint32_t)__builtin_popcountll(a->mask) * bytes;
    if (!a->mask)
        return;
    const lsu_desc *lsu = c->lsu;
    switch (lsu->rule) {
    case COALESCE_HALF_WARP_STRICT:
        half_warp_strict(c, a, bytes, out);
        break;
    case COALESCE_HALF_WARP_SEGMENTS:
        half_warp_segments(c, a, bytes, out);
        break;
    default:
        if (a->affine && a->stride)
            by_stride(c, a, bytes, out);
        else
            by_lane(c, a, a->affine ? a->mask & -a->mask : a->mask, bytes, out);
    }
    const uint32_t unit = lsu->rule == COALESCE_LINE128 && !store ? c->line_bytes : c->sector_bytes;
    for (uint32_t i = 0; i < out->count; i++) {
        const bytemask whole = bytemask_round(out->item[i].mask, unit);
        const uint32_t n = bytemask_count(whole);
        out->sectors += n / c->sector_bytes;
        if (!store)
            out->item[i].mask = whole;
    }
    out->data_passes = data_passes(c, a, bytes);
    const uint32_t tag = 1000 * tag_passes(c, out);
    out->tag_milli = tag;
    uint32_t cycles = out->data_passes * 1000 > tag ? out->data_passes * 1000 : tag;
    /* The register path moves every active lane's bytes, however they were gathered. */
    const uint32_t floor_milli = (uint32_t)((uint64_t)c->warp_width * bytes * 1000 / lsu->bytes_per_cycle);
    if (cycles < floor_milli)
        cycles = floor_milli;
    out->cycles_milli = cycles;
}
