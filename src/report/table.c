#include "report/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { GAP = 2, INDENT = 2 };

typedef struct shape {
    bool stacked; /* the first cell of every row and of the heading has a line of its own */
    bool shown[TABLE_COLUMNS_MAX];
    size_t width[TABLE_COLUMNS_MAX];
} shape;

status table_add(table *t, message *m, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    void *cells = t->cells;
    if (!mem_reserve(&cells, &t->cell_capacity, t->cell_count + 1, sizeof *t->cells))
        return fail(m, ERR_MEMORY, "not enough memory for a table");
    t->cells = cells;
    t->cells[t->cell_count] = arena_string(&t->text, text);
    if (!t->cells[t->cell_count])
        return fail(m, ERR_MEMORY, "not enough memory for a table");
    t->cell_count++;
    return OK;
}

/* Columns on the screen: UTF-8 continuation bytes take none. */
static size_t display_width(const char *s) {
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static size_t total_width(const table *t, const shape *s) {
    size_t sum = 0;
    for (size_t c = 0; c < t->column_count; c++)
        if (s->shown[c])
            sum += s->width[c] + (c ? GAP : 0);
    return sum;
}

static size_t head_width(const table_column *c) {
    size_t head = display_width(c->head), unit = display_width(c->unit);
    return head > unit ? head : unit;
}

static shape fit(const table *t, size_t width) {
    shape s = {0};
    for (size_t c = 0; c < t->column_count; c++) {
        s.shown[c] = true;
        s.width[c] = head_width(&t->columns[c]);
        for (size_t i = c; i < t->cell_count; i += t->column_count) {
            size_t n = display_width(t->cells[i]);
            s.width[c] = n > s.width[c] ? n : s.width[c];
        }
    }
    if (total_width(t, &s) > width) {
        s.stacked = true;
        s.width[0] = INDENT - GAP;
    }
    while (total_width(t, &s) > width) {
        size_t least = 0;
        for (size_t c = 1; c < t->column_count; c++)
            if (s.shown[c] && t->columns[c].rank > 0 && (!least || t->columns[c].rank >= t->columns[least].rank))
                least = c;
        if (!least)
            break;
        s.shown[least] = false;
    }
    return s;
}

static void print_cell(FILE *out, const char *cell, size_t width, int right, bool last) {
    size_t n = display_width(cell), pad = n < width ? width - n : 0;
    if (right)
        fprintf(out, "%*s%s", (int)pad, "", cell);
    else
        fprintf(out, "%s%*s", cell, last ? 0 : (int)pad, "");
}

static void print_row(const table *t, const shape *s, FILE *out, const char *const *cells) {
    size_t last = 0;
    for (size_t c = 0; c < t->column_count; c++)
        last = s->shown[c] ? c : last;
    for (size_t c = 0; c <= last; c++) {
        if (!s->shown[c])
            continue;
        if (c > 0)
            fprintf(out, "%*s", GAP, "");
        const char *cell = cells[c];
        if (c == 0 && s->stacked) {
            if (*cell)
                fprintf(out, "%s\n", cell);
            cell = "";
        }
        print_cell(out, cell, s->width[c], t->columns[c].right, c == last);
    }
    fputc('\n', out);
}

void table_print(const table *t, FILE *out, size_t width) {
    if (t->column_count == 0)
        return;
    shape s = fit(t, width);
    const char *head[TABLE_COLUMNS_MAX], *unit[TABLE_COLUMNS_MAX];
    bool units = false;
    for (size_t c = 0; c < t->column_count; c++) {
        head[c] = t->columns[c].head;
        unit[c] = t->columns[c].unit;
        units = units || (s.shown[c] && *unit[c]);
    }
    print_row(t, &s, out, head);
    if (units)
        print_row(t, &s, out, unit);
    if (!t->bare) {
        for (size_t i = 0, n = total_width(t, &s); i < n; i++)
            fputc('-', out);
        fputc('\n', out);
    }
    for (size_t i = 0; i + t->column_count <= t->cell_count; i += t->column_count)
        print_row(t, &s, out, (const char *const *)t->cells + i);
}

char *table_left_out(const table *t, size_t width, char *buffer, size_t size) {
    shape s = fit(t, width);
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t c = 0; c < t->column_count && used < size; c++)
        if (!s.shown[c])
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", t->columns[c].head);
    return buffer;
}

void table_free(table *t) {
    arena_free(&t->text);
    mem_free(t->cells);
    *t = (table){0};
}
