#include "base/hash.h"

#include <criterion/criterion.h>

/* Test vectors of the FNV reference code (draft-eastlake-fnv). */
Test(hash, published_vectors) {
    cr_expect_eq(hash_bytes(HASH_START, "", 0), UINT64_C(0xcbf29ce484222325));
    cr_expect_eq(hash_bytes(HASH_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    cr_expect_eq(hash_bytes(HASH_START, "foobar", 6), UINT64_C(0x85944171f73967e8));
}

Test(hash, texts_keep_their_ends) {
    cr_expect_neq(hash_text(hash_text(HASH_START, "a"), "bc"), hash_text(hash_text(HASH_START, "ab"), "c"));
}
