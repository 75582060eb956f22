#include "layout/plan.h"
#include "layout/syntax.h"
#include "layout_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

static copy_plan plan_of(const copy_desc *c, const plan_options *o) {
    copy_plan plan;
    message m = {""};
    cr_assert_eq(plan_copy(c, o, &plan, &m), OK, "%s", m.text);
    return plan;
}

/* Decisions of Futhark's own routine (commit 48a0c814) on these layouts. */
Test(plan, futhark_decisions) {
    static const struct {
        const char *id, *shape, *dst, *src;
        copy_strategy strategy;
        int64_t batches, columns, rows;
    } cases[] = {
        {"T1", "8192,8192", "8192,1", "8193,1", COPY_GENERAL, 0, 0, 0},
        {"T2", "256,256,1024", "262144,1024,1", "262400,1025,1", COPY_GENERAL, 0, 0, 0},
        {"T3", "8192,8192", "8192,1", "8192,-1", COPY_GENERAL, 0, 0, 0},
        {"T4", "4,5", "5,1", "5,1", COPY_MEMCPY, 0, 0, 0},
        {"T5", "4,5", "1,4", "1,4", COPY_MEMCPY, 0, 0, 0},
        {"T6", "4,5", "5,1", "1,4", COPY_TRANSPOSE_SMALL, 1, 4, 5},
        {"T7", "4,5", "1,4", "5,1", COPY_TRANSPOSE_SMALL, 1, 5, 4},
        {"T8", "1000,2000", "2000,1", "1,1000", COPY_TRANSPOSE_DEFAULT, 1, 1000, 2000},
        {"T9", "1000,2000", "1,1000", "2000,1", COPY_TRANSPOSE_DEFAULT, 1, 2000, 1000},
        {"T10", "4,100", "100,1", "1,4", COPY_TRANSPOSE_LOW_WIDTH, 1, 4, 100},
        {"T11", "100,4", "4,1", "1,100", COPY_TRANSPOSE_LOW_HEIGHT, 1, 100, 4},
        {"T12", "12,100", "100,1", "1,12", COPY_TRANSPOSE_DEFAULT, 1, 12, 100},
        {"T13", "8,16", "16,1", "1,8", COPY_TRANSPOSE_DEFAULT, 1, 8, 16},
        {"T14", "8,17", "17,1", "1,8", COPY_TRANSPOSE_LOW_WIDTH, 1, 8, 17},
        {"T15", "10,4,5", "20,5,1", "20,1,4", COPY_TRANSPOSE_SMALL, 10, 4, 5},
        {"T16", "10,4,5", "20,5,1", "24,1,4", COPY_GENERAL, 0, 0, 0},
        {"T17", "2,3,4,5", "60,20,5,1", "60,20,1,4", COPY_TRANSPOSE_SMALL, 6, 4, 5},
        {"T18", "3,4,5", "20,5,1", "4,12,1", COPY_GENERAL, 0, 0, 0},
        {"T19", "3,4,5", "20,5,1", "1,15,3", COPY_TRANSPOSE_LOW_WIDTH, 1, 3, 20},
        {"T20", "3,4,5", "20,5,1", "4,1,12", COPY_TRANSPOSE_DEFAULT, 1, 12, 5},
        {"T21", "3,4,5", "20,5,1", "1,3,12", COPY_GENERAL, 0, 0, 0},
        {"T22", "1,7", "7,1", "99,1", COPY_MEMCPY, 0, 0, 0},
        {"T23", "1,7", "99,1", "99,1", COPY_GENERAL, 0, 0, 0},
        {"T24", "7,1", "1,1", "1,5", COPY_MEMCPY, 0, 0, 0},
        {"T25", "7,1", "1,1", "3,1", COPY_GENERAL, 0, 0, 0},
        {"T26a", "9", "1", "1", COPY_MEMCPY, 0, 0, 0},
        {"T26b", "9", "1", "2", COPY_GENERAL, 0, 0, 0},
        {"T26c", "9", "1", "-1", COPY_GENERAL, 0, 0, 0},
        {"T27", "9", "-1", "-1", COPY_GENERAL, 0, 0, 0},
        {"T28", "0,7", "7,1", "1,0", COPY_NOTHING, 0, 0, 0},
        {"T29", "1,1", "1,1", "1,1", COPY_MEMCPY, 0, 0, 0},
        {"T30", "1,7", "7,1", "1,1", COPY_TRANSPOSE_SMALL, 1, 1, 7},
        {"T31", "7,1", "1,1", "1,7", COPY_MEMCPY, 0, 0, 0},
        {"T32", "3,4,5", "1,3,12", "1,3,12", COPY_MEMCPY, 0, 0, 0},
        {"T33", "4,5", "8,1", "8,1", COPY_GENERAL, 0, 0, 0},
        {"T34", "4,5,6", "30,6,1", "60,6,1", COPY_GENERAL, 0, 0, 0},
        {"T35", "50000,50000", "50000,1", "1,50000", COPY_TRANSPOSE_LARGE, 1, 50000, 50000},
        {"T36", "1,100000000", "100000000,1", "1,1", COPY_TRANSPOSE_LOW_WIDTH, 1, 1, 100000000},
        {"T37", "2,50000000", "50000000,1", "1,2", COPY_TRANSPOSE_LOW_WIDTH, 1, 2, 50000000},
        {"T38", "10,10000,1000", "10000000,1000,1", "10000000,1,10000", COPY_TRANSPOSE_DEFAULT, 10, 10000, 1000},
        {"rank 0", "", "", "", COPY_MEMCPY, 0, 0, 0},
    };
    plan_options futhark = plan_options_futhark();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        copy_plan plan = plan_of(&c, &futhark);
        transpose_shape *t = &plan.transpose;
        cr_expect(plan.options.strategy == cases[i].strategy && t->batches == cases[i].batches &&
                      t->columns == cases[i].columns && t->rows == cases[i].rows,
                  "%s: %s, %" PRId64 " x %" PRId64 " rows x %" PRId64 " columns", cases[i].id, plan.reason.text,
                  t->batches, t->rows, t->columns);
        cr_expect_eq(plan.transposes, cases[i].batches > 0, "%s", cases[i].id);
        cr_expect_eq(strncmp(plan.reason.text, copy_strategy_name(plan.options.strategy),
                             strlen(copy_strategy_name(plan.options.strategy))),
                     0, "%s", plan.reason.text);
        cr_expect(plan.verdict[plan.options.strategy].applicable, "%s", cases[i].id);
        for (uint32_t k = 0; k < plan.rank; k++) /* upstream sorts nothing */
            cr_expect_eq(plan.order[k], k, "%s", cases[i].id);
    }
}

/* Where each kernel of the transposition begins, and offsets that push indices past 2^31 - 1. */
Test(plan, transposition_kernel_boundaries) {
    static const struct {
        int64_t batches, columns, rows, src_offset, dst_offset;
        copy_strategy want;
    } cases[] = {
        {1, 8, 8, 0, 0, COPY_TRANSPOSE_SMALL},
        {1, 9, 8, 0, 0, COPY_TRANSPOSE_DEFAULT},
        {1, 8, 9, 0, 0, COPY_TRANSPOSE_DEFAULT},
        {1, 16, 8, 0, 0, COPY_TRANSPOSE_DEFAULT},
        {1, 17, 8, 0, 0, COPY_TRANSPOSE_LOW_HEIGHT},
        {1, 17, 9, 0, 0, COPY_TRANSPOSE_DEFAULT},
        {5, 8, 17, 0, 0, COPY_TRANSPOSE_LOW_WIDTH},
        {1, 2, 2, INT32_MAX - 4, 0, COPY_TRANSPOSE_SMALL},
        {1, 2, 2, INT32_MAX - 3, 0, COPY_TRANSPOSE_LARGE},
        {1, 2, 2, 0, INT32_MAX - 3, COPY_TRANSPOSE_LARGE},
        {3, 2, 2, INT32_MAX - 11, 0, COPY_TRANSPOSE_LARGE},
        {1, 4, INT64_C(1) << 40, 0, 0, COPY_TRANSPOSE_LARGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        transpose_shape t = {.batches = cases[i].batches, .rows = cases[i].rows, .columns = cases[i].columns};
        t.src_batch_stride = t.dst_batch_stride = t.rows * t.columns;
        copy_desc c = {.element_bytes = 4, .src.offset = cases[i].src_offset, .dst.offset = cases[i].dst_offset};
        cr_expect_eq(transpose_kernel(&c, &t), cases[i].want, "case %zu", i);
    }
}

Test(plan, gapped_batches) {
    static const struct {
        const char *shape, *dst, *src;
        int64_t batches, rows, columns, src_stride, dst_stride;
    } cases[] = {
        {"10,4,5", "20,5,1", "24,1,4", 10, 5, 4, 24, 20},
        {"10,4,5", "-30,1,4", "20,5,1", 10, 4, 5, 20, -30},
        {"2,3,4,5", "60,20,5,1", "72,24,1,4", 6, 5, 4, 24, 20},
        {"2,3,4,5", "60,20,5,1", "73,24,1,4", 0, 0, 0, 0, 0}, /* the two batch dimensions do not merge */
        {"1,4,5", "20,5,1", "7,1,4", 1, 5, 4, 20, 20},        /* a singleton with an odd stride */
        {"10,1,7", "9,7,1", "8,1,1", 0, 0, 0, 0, 0},          /* one row: no transposition */
        {"10,7,1", "9,1,1", "8,1,7", 0, 0, 0, 0, 0},          /* one column */
        {"10,4,5", "20,5,1", "24,5,1", 0, 0, 0, 0, 0},
    };
    plan_options gapped = plan_options_default(), futhark = plan_options_futhark();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        copy_plan plan = plan_of(&c, &gapped), strict = plan_of(&c, &futhark);
        transpose_shape want = {cases[i].batches, cases[i].rows, cases[i].columns, cases[i].src_stride,
                                cases[i].dst_stride};
        cr_expect_eq(memcmp(&plan.transpose, &want, sizeof want), 0, "case %zu: %s", i, plan.reason.text);
        cr_expect_eq(plan.noted[NOTE_GAPPED_BATCHES], want.batches > 1, "case %zu", i);
        cr_expect(!strict.transposes && !strict.noted[NOTE_GAPPED_BATCHES], "case %zu", i);
        cr_expect(want.batches < 2 || strstr(plan.reason.text, "with gaps between them"), "%s", plan.reason.text);
        cr_expect(want.batches < 2 || strstr(strict.reason.text, "batches do not abut"), "%s", strict.reason.text);
    }
}

Test(plan, reasons) {
    static const struct {
        const char *shape, *dst, *src, *reason;
    } cases[] = {
        {"4,5", "5,1", "5,1",
         "memcpy: the destination is contiguous in order (1,0), fastest first, and the source has the same strides"},
        {"0,7", "7,1", "7,1", "nothing: the shape is empty"},
        {"", "", "", "memcpy: a single element"},
        {"8192,8192", "8192,1", "8193,1",
         "general: not memcpy, the destination is contiguous in order (1,0), but dimension 0 has stride 8193 in the "
         "source and 8192 in the destination; not a transposition, no split into rows and columns turns one side's "
         "layout into the other's; dimensions in order (1,0), fastest first"},
        {"10,4,5", "20,5,1", "24,1,4",
         "transpose_small: 10 matrices of 5 rows x 4 columns, with gaps between them; rows <= 8 and columns <= 8, too "
         "small for tiles"},
    };
    plan_options o = plan_options_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        copy_plan plan = plan_of(&c, &o);
        cr_expect_str_eq(plan.reason.text, cases[i].reason);
    }
}

/* The longest reason there is fits its text. */
Test(plan, long_reasons_are_whole) {
    copy_desc c = copy_of("1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2", "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,1",
                          "-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1000000000000000000");
    plan_options o = plan_options_default();
    copy_plan plan = plan_of(&c, &o);
    cr_expect(strstr(plan.reason.text, "stride -1000000000000000000 in the source and 1 in the destination; not a"),
              "%s", plan.reason.text);
    cr_expect_str_eq(plan.reason.text + strlen(plan.reason.text) - 17, "5), fastest first", "%s", plan.reason.text);
}

/* Every strategy has an answer for every copy, and says why. */
Test(plan, applicable_strategies) {
    static const struct {
        const char *shape, *dst, *src, *can;
        copy_strategy refuses;
        const char *why_not;
    } cases[] = {
        {"4,5", "5,1", "5,1", "memcpy general ", COPY_TRANSPOSE_NAIVE, "no split into rows and columns"},
        {"0,5", "5,1", "5,1", "nothing ", COPY_GENERAL, "the shape is empty: there is nothing to copy"},
        {"100,200", "200,1", "1,100",
         "general transpose_default transpose_large transpose_small transpose_unpadded transpose_naive ",
         COPY_TRANSPOSE_LOW_WIDTH, "100 columns do not fit the block's width of 16"},
        {"200,10", "10,1", "1,200",
         "general transpose_default transpose_large transpose_small transpose_low_height transpose_unpadded "
         "transpose_naive ",
         COPY_NOTHING, "the shape is not empty"},
        {"16,200", "200,1", "1,16",
         "general transpose_default transpose_large transpose_small transpose_low_width transpose_unpadded "
         "transpose_naive ",
         COPY_TRANSPOSE_LOW_HEIGHT, "200 rows do not fit the block's height of 16"},
        {"50000,50000", "50000,1", "1,50000", "general transpose_large transpose_naive ", COPY_TRANSPOSE_DEFAULT,
         "32-bit indices do not reach"},
        {"1,7", "99,1", "99,1", "general ", COPY_MEMCPY, "it would not if singletons were ignored"},
        {"9", "-1", "-1", "general ", COPY_MEMCPY, "negative stride -1"},
    };
    plan_options o = plan_options_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        copy_plan plan = plan_of(&c, &o);
        char can[400] = "";
        for (copy_strategy s = 0; s < COPY_STRATEGY_COUNT; s++) {
            if (plan.verdict[s].applicable)
                strcat(strcat(can, copy_strategy_name(s)), " ");
            cr_expect_neq(plan.verdict[s].why.text[0], '\0', "case %zu strategy %d", i, (int)s);
        }
        cr_expect_str_eq(can, cases[i].can, "case %zu", i);
        cr_expect(strstr(plan.verdict[cases[i].refuses].why.text, cases[i].why_not), "case %zu: %s", i,
                  plan.verdict[cases[i].refuses].why.text);
    }
    o.contiguous = CONTIGUITY_IGNORE_SINGLETONS;
    copy_desc c = copy_of("1,7", "99,1", "99,1");
    cr_expect_eq(plan_of(&c, &o).options.strategy, COPY_MEMCPY);
}

/* The eight rows of the post "match none of the recognised patterns", and their dimensions reverse. */
Test(plan, the_post) {
    static const char *const rows[][2] = {
        {"slice_2d", "[8192][8193]i32"},      {"slice_2d", "[65536][1025]i32"},      {"slice_2d", "[1048576][65]i32"},
        {"slice_2d", "[16777216][5]i32"},     {"slice_3d", "[256][256][1025]i32"},   {"slice_3d", "[65536][32][33]i32"},
        {"reversed_rows", "[8192][8192]i32"}, {"reversed_rows", "[16777216][4]i32"},
    };
    plan_options o = plan_options_default();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dataset d;
        copy_desc c;
        message m = {""};
        cr_assert_eq(parse_dataset(rows[i][1], &d, &m), OK);
        cr_assert_eq(view_copy(rows[i][0], &d, NULL, &c, &m), OK);
        for (int by_sign = 0; by_sign < 2; by_sign++) {
            o.general.signed_sort = by_sign;
            copy_plan plan = plan_of(&c, &o);
            cr_expect_eq(plan.options.strategy, COPY_GENERAL);
            cr_expect_eq(plan.elements, 1 << 26);
            for (uint32_t k = 0; k < d.rank; k++)
                cr_expect_eq(plan.order[k], d.rank - 1 - k);
            for (int note = 0; note < PLAN_NOTE_COUNT; note++)
                cr_expect_not(plan.noted[note], "row %zu: %s", i, plan.note[note].text);
        }
        /* Slices start one element late: only the destination can take wide stores, where rows hold whole vectors. */
        copy_plan plan = plan_of(&c, &o);
        cr_expect_eq(plan.src_vector_bytes, 4);
        cr_expect_eq(plan.dst_vector_bytes, 16);
    }
}

/* U7 empty shapes, U10 any rank, U18 signs. */
Test(plan, unusual_shapes) {
    plan_options o = plan_options_default();
    copy_desc empty = copy_of("0,32", "32,1", "1,0");
    copy_plan plan = plan_of(&empty, &o);
    cr_expect(plan.options.strategy == COPY_NOTHING && plan.elements == 0);
    copy_desc negative = copy_of("4,-5", "5,1", "5,1");
    message m = {""};
    cr_expect_eq(plan_copy(&negative, &o, &plan, &m), ERR_INPUT);
    cr_expect(strstr(m.text, "size -5 of dimension 1 is negative"), "%s", m.text);
    copy_desc backwards = copy_of("4,5", "5,1", "-5,-1");
    cr_expect_eq(plan_of(&backwards, &o).options.strategy, COPY_GENERAL);
    static const uint32_t ranks[] = {1, 8, 9, 16};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        dataset d = {.rank = ranks[i], .element_bytes = 4, .type = "i32"};
        for (uint32_t k = 0; k < d.rank; k++)
            d.size[k] = 2;
        copy_desc c;
        cr_assert_eq(view_copy("copy", &d, NULL, &c, &m), OK);
        cr_expect_eq(plan_of(&c, &o).options.strategy, COPY_MEMCPY);
        cr_assert_eq(view_copy("transpose", &d, NULL, &c, &m), OK);
        plan = plan_of(&c, &o);
        cr_expect_eq(plan.options.strategy, d.rank == 1 ? COPY_MEMCPY : COPY_GENERAL);
        cr_expect_eq(plan.noted[NOTE_RANK], d.rank > 8);
        cr_expect_eq(plan.elements, INT64_C(1) << d.rank);
        for (uint32_t k = 0; k < d.rank; k++) /* source strides 1, 2, 4, ...: already sorted */
            cr_expect_eq(plan.order[k], k);
        cr_expect_not(plan.noted[NOTE_COLLISION]);
    }
}

/* U11: a grid-stride loop overflows before the element count does; U13: overlap; colliding destinations. */
Test(plan, notes) {
    static const struct {
        const char *shape, *dst, *src;
        bool same_memory;
        uint64_t grid_step;
        plan_note_kind kind;
        const char *said; /* NULL: not noted */
    } cases[] = {
        {"1073741568", "1", "3", false, 0, NOTE_INDEX_32, "source offsets reach from 0 to 3221224701"},
        {"1073741568", "1", "1", false, 0, NOTE_INDEX_32, NULL},
        {"1073741824", "1", "1", false, 0, NOTE_INDEX_32, NULL}, /* 2^30 - 1 + 2^30 is the largest int */
        {"1073742080", "1", "1", false, 0, NOTE_INDEX_32, "1073742080 elements plus a grid step of 1073742080 pass"},
        {"2147483393", "1", "1", false, 256, NOTE_INDEX_32, "2147483393 elements plus a grid step of 256 pass"},
        {"2147483392", "1", "1", false, 256, NOTE_INDEX_32, NULL},
        {"3", "1", "2147483647", false, 0, NOTE_INDEX_32, "source offsets reach from 0 to 4294967294"},
        {"3", "-2147483647", "1", false, 0, NOTE_INDEX_32, "destination offsets reach from -4294967294 to 0"},
        {"4,5", "5,1", "5,1", true, 0, NOTE_OVERLAP, "the copy changes nothing"},
        {"4,5", "5,1", "5,1", false, 0, NOTE_OVERLAP, NULL},
        {"4,5", "5,1", "1,4", true, 0, NOTE_OVERLAP, "depends on the order"},
        {"4,5", "4,1", "5,1", false, 0, NOTE_COLLISION, "elements (1,0) and (0,4) are the same place"},
        {"4,5", "5,1", "0,0", false, 0, NOTE_COLLISION, NULL}, /* a source may repeat */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        plan_options o = plan_options_default();
        o.same_memory = cases[i].same_memory;
        o.grid_step = cases[i].grid_step;
        copy_plan plan = plan_of(&c, &o);
        cr_expect_eq(plan.noted[cases[i].kind], cases[i].said != NULL, "case %zu: %s", i,
                     plan.note[cases[i].kind].text);
        cr_expect(!cases[i].said || strstr(plan.note[cases[i].kind].text, cases[i].said), "case %zu: %s", i,
                  plan.note[cases[i].kind].text);
    }
}

/* U17: the base, and every stride, decide how wide an access may be. */
Test(plan, vector_width) {
    static const struct {
        uint32_t element_bytes;
        int64_t base;
        const char *layout;
        uint32_t want;
        const char *why;
    } cases[] = {
        {1, 0, "[(4,68),(64,1)]", 4, "the stride of 68 B"},
        {4, 0, "[(4,17),(16,1)]", 4, "the stride of 68 B"},
        {4, 0, "[(4,18),(16,1)]", 8, "the stride of 72 B"},
        {4, 0, "[(4,20),(16,1)]", 16, "every row starts at a multiple of 16 B"},
        {4, 8, "[(4,20),(16,1)]", 8, "the first element's address 8 B"},
        {4, 0, "1:[(4,20),(16,1)]", 4, "the first element's address 4 B"},
        {4, 12, "1:[(4,20),(16,1)]", 16, "every row"},
        {4, 0, "[(4,20),(18,1)]", 8, "the row length of 72 B"},
        {4, 0, "[(4,5),(5,1)]", 16, "every row"}, /* rows join: 80 B */
        {4, 0, "[(3,5),(5,1)]", 4, "the row length of 60 B"},
        {4, 0, "[(1,7),(16,1)]", 16, "every row"},
        {4, 0, "[(8,16),(16,-1)]", 4, "no dimension has stride 1"},
        {4, 0, "[(8,1),(16,8)]", 16, "every row"},
        {2, 0, "[(8,-32),(32,1)]", 16, "every row"},
        {8, 4, "[(8,1)]", 4, "the first element's address 4 B"},
        {16, 0, "[(8,3)]", 16, "no dimension has stride 1"},
        {4, 0, "[]", 4, "no dimension has stride 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lmad l;
        message m = {""};
        plan_text why;
        cr_assert_eq(parse_lmad(cases[i].layout, &l, &m), OK, "%s", m.text);
        uint32_t got = lmad_vector_bytes(&l, cases[i].element_bytes, cases[i].base, &why);
        cr_expect_eq(got, cases[i].want, "case %zu: %" PRIu32, i, got);
        cr_expect(strstr(why.text, cases[i].why), "case %zu: %s", i, why.text);
    }
    copy_desc c = copy_of("8", "1", "1");
    c.element_bytes = 8;
    plan_options o = plan_options_default();
    o.dst_base = 4;
    cr_expect(plan_of(&c, &o).noted[NOTE_MISALIGNED]);
}

static pair pairs[PAIRS_MAX], made[PAIRS_MAX];

/* Memory as a memcpy sees it: destinations without gap or repetition, sources at one distance from them. */
static bool is_block(size_t count) {
    for (size_t i = 1; i < count; i++)
        if (pairs[i].dst != pairs[0].dst + (int64_t)i || pairs[i].src != pairs[0].src + (int64_t)i)
            return false;
    return true;
}

static size_t transpose_pairs(const copy_desc *c, const transpose_shape *t) {
    size_t n = 0;
    for (int64_t b = 0; b < t->batches; b++)
        for (int64_t y = 0; y < t->rows; y++)
            for (int64_t x = 0; x < t->columns; x++) {
                made[n].src = c->src.offset + b * t->src_batch_stride + y * t->columns + x;
                made[n++].dst = c->dst.offset + b * t->dst_batch_stride + x * t->rows + y;
            }
    return n;
}

static bool has_negative_stride(const lmad *l) {
    for (uint32_t k = 0; k < l->rank; k++)
        if (l->stride[k] < 0)
            return true;
    return false;
}

/* A memcpy is one exactly when the element-by-element definition says so (singletons ignored, strides not negative);
 * a transposition moves exactly the elements of its shape; strict rules find a subset of what generous ones find. */
Test(plan, decisions_agree_with_the_elements) {
    prng g = {.state = 7};
    plan_options generous = plan_options_default(), futhark = plan_options_futhark();
    generous.contiguous = CONTIGUITY_IGNORE_SINGLETONS;
    int copies = 0, transpositions = 0, gapped = 0;
    for (int round = 0; round < 6000; round++) {
        copy_desc c = random_copy(&g, 6);
        size_t n = pairs_of(&c, pairs);
        sort_pairs(pairs, n);
        copy_plan plan = plan_of(&c, &generous), strict = plan_of(&c, &futhark);
        bool block = is_block(n) && !has_negative_stride(&c.dst) && !has_negative_stride(&c.src);
        bool can_memcpy = plan.verdict[COPY_MEMCPY].applicable;
        if ((can_memcpy && !is_block(n)) || (block && !can_memcpy))
            cr_assert(false, "round %d: memcpy %d", round, can_memcpy);
        if (strict.verdict[COPY_MEMCPY].applicable && !can_memcpy)
            cr_assert(false, "round %d: only the strict rule copies", round);
        if (plan.transposes &&
            (transpose_pairs(&c, &plan.transpose) != n || (sort_pairs(made, n), memcmp(made, pairs, n * sizeof *made))))
            cr_assert(false, "round %d: not this transposition: %s", round, plan.reason.text);
        if (strict.transposes && memcmp(&strict.transpose, &plan.transpose, sizeof plan.transpose) != 0)
            cr_assert(false, "round %d: the generous rule changes a strict answer", round);
        copies += can_memcpy;
        transpositions += plan.transposes;
        gapped += plan.transposes && !strict.transposes;
    }
    cr_expect(copies > 500 && transpositions > 200 && gapped > 20, "a lopsided sample: %d %d %d", copies,
              transpositions, gapped);
}

/* Where an access may be wider than an element, the elements fill whole aligned accesses. */
Test(plan, wide_accesses_are_whole) {
    prng g = {.state = 8};
    int wide = 0;
    for (int round = 0; round < 6000; round++) {
        copy_desc c = random_copy(&g, 4);
        c.element_bytes = UINT32_C(1) << prng_below(&g, 3);
        c.src.offset &= ~INT64_C(3);
        int64_t base = 16 * between(&g, 0, 3) + (prng_below(&g, 4) ? 0 : c.element_bytes);
        uint32_t width = lmad_vector_bytes(&c.src, c.element_bytes, base, NULL);
        if (width <= c.element_bytes || lmad_injective(&c.src, NULL) != ANSWER_YES)
            continue;
        c.dst = c.src;
        size_t n = pairs_of(&c, pairs), lanes = width / c.element_bytes;
        sort_pairs(pairs, n);
        for (size_t i = 0; i < n; i++) {
            int64_t first = pairs[i - i % lanes].src;
            if ((base + first * c.element_bytes) % width != 0 || pairs[i].src != first + (int64_t)(i % lanes))
                cr_assert(false, "round %d: no whole accesses of %" PRIu32 " B", round, width);
        }
        if (n % lanes != 0)
            cr_assert(false, "round %d: a part of an access is left", round);
        wide++;
    }
    cr_expect_gt(wide, 200, "a lopsided sample: %d", wide);
}
