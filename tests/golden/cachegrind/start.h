/* start.h - what a program without a C library needs: an entry that calls work() and exits (x86-64 Linux). */
#include <stdint.h>

void work(void);

__attribute__((noreturn, force_align_arg_pointer)) void _start(void);
void _start(void) {
    work();
    __asm__ volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");
    __builtin_unreachable();
}
