#include "base/mem.h"
#include "base/textbuf.h"

#include <criterion/criterion.h>

Test(textbuf, grows_and_fails) {
    textbuf b = {0};
    for (int i = 0; i < 1000; i++)
        textbuf_printf(&b, "%d,", i % 10);
    cr_expect_eq(b.length, 2000);
    cr_expect_eq(b.text[2000], '\0');
    mem_fail_after(1);
    for (int i = 0; i < 100; i++)
        textbuf_put(&b, "0123456789012345678901234567890123456789");
    mem_fail_after(0);
    cr_expect(b.failed);
    size_t kept = b.length;
    textbuf_put(&b, "more");
    cr_expect_eq(b.length, kept);
    textbuf_free(&b);
}
