#include "kernel/hoist.h"

#include "base/intern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A load of the leaf block at hand, by its text; kept as the value of that text. */
typedef struct entry {
    hoist_load load;
    const body_expr *use; /* the first */
    body_expr *let;       /* what takes its place; NULL: it stays */
    uint32_t order;       /* among the candidates */
    bool candidate;
    uint64_t stamp; /* the last select whose second side has it */
} entry;

typedef struct pass {
    body *b;
    hoist_report *report;
    bool *written;      /* by array */
    bool *own_let;      /* by variable: a let inside a schedule block */
    uint32_t *names;    /* by array: how many names were tried for its lets */
    intern_table taken; /* names of the body */
    intern_table texts; /* of the leaf block at hand */
    textbuf scratch;
    entry **entry; /* in order of first use */
    size_t entries, entry_capacity;
    entry **stack; /* what collect found */
    size_t depth, stack_capacity;
    uint64_t selects;
    bool failed; /* there was not enough memory */
} pass;

const char *hoist_verdict_text(hoist_verdict v) {
    static const char *const words[] = {
#define X(id, text) [id] = text,
        HOIST_VERDICT_LIST(X)
#undef X
    };
    return words[v];
}

void hoist_report_free(hoist_report *r) {
    arena_free(&r->memory);
    mem_free(r->leaf);
    *r = (hoist_report){0};
}

static bool is_schedule_block(const body_stmt *s) {
    return s->kind == STMT_BLOCK && !body_is_root(s);
}

static bool has_if(const body_list *list) {
    for (const body_stmt *s = list->first; s; s = s->next)
        if (s->kind == STMT_IF)
            return true;
    return false;
}

/* The one store of a schedule block. */
static const body_stmt *store_of(const body_list *list) {
    const body_stmt *found = NULL;
    for (const body_stmt *s = list->first; s && !found; s = s->next) {
        if (s->kind == STMT_STORE)
            found = s;
        else if (s->kind == STMT_IF && !(found = store_of(&s->body)))
            found = store_of(&s->otherwise);
    }
    return found;
}

/* ---- loads by their text ----------------------------------------------------------------------------------------- */

static bool has_load(const body_expr *e) {
    bool found = e->kind == EXPR_LOAD;
    for (uint32_t i = 0; i < e->args && !found; i++)
        found = has_load(e->arg[i]);
    return found;
}

static bool uses_own_let(const pass *p, const body_expr *e) {
    bool found = e->kind == EXPR_LET && p->own_let[e->variable->id];
    for (uint32_t i = 0; i < e->args && !found; i++)
        found = uses_own_let(p, e->arg[i]);
    return found;
}

/* Rule 4: HOIST_DONE when nothing about the load itself is in the way. */
static hoist_verdict qualify(const pass *p, const body_expr *load) {
    if (load->array->space != SPACE_GLOBAL)
        return HOIST_NOT_GLOBAL;
    if (p->written[load->array->id])
        return HOIST_WRITTEN;
    for (uint32_t i = 0; i < load->args; i++)
        if (has_load(load->arg[i]))
            return HOIST_INDIRECT;
    return uses_own_let(p, load) ? HOIST_NEEDS_LET : HOIST_DONE;
}

static interned *text_of(pass *p, const body_expr *load) {
    p->scratch.length = 0;
    body_print_expr(&p->scratch, load);
    interned *text = p->scratch.failed ? NULL : intern(&p->texts, p->scratch.text, p->scratch.length);
    p->failed = p->failed || !text;
    return text;
}

/* What is known of the load; NULL when there is not enough memory, or when it was never noted. */
static entry *entry_of(pass *p, const body_expr *load) {
    interned *text = text_of(p, load);
    return text ? text->value : NULL;
}

/* Notes a use. Where it stands counts only as long as nothing about the load itself is in the way. */
static void note_load(pass *p, const body_expr *load, hoist_verdict where) {
    interned *text = text_of(p, load);
    if (!text)
        return;
    entry *e = text->value;
    if (!e) {
        void *list = p->entry;
        e = arena_alloc(&p->texts.memory, sizeof *e);
        if (!e || !mem_reserve(&list, &p->entry_capacity, p->entries + 1, sizeof(entry *))) {
            p->failed = true;
            return;
        }
        hoist_verdict fault = qualify(p, load);
        *e = (entry){.use = load, .load = {.array = load->array, .at = load->at}};
        e->load.verdict = fault != HOIST_DONE ? fault : where;
        p->entry = list;
        p->entry[p->entries++] = text->value = e;
    }
    e->load.uses++;
}

static void note_expr(pass *p, const body_expr *e, hoist_verdict where) {
    if (e->kind == EXPR_LOAD) {
        note_load(p, e, where);
        where = where == HOIST_DONE || where == HOIST_ONE_SIDED ? HOIST_IN_SUBSCRIPT : where;
    }
    for (uint32_t i = 0; i < e->args && !p->failed; i++)
        note_expr(p, e->arg[i], e->kind == EXPR_SELECT && i > 0 && where == HOIST_DONE ? HOIST_ONE_SIDED : where);
}

static void note_list(pass *p, const body_list *list, hoist_verdict where) {
    for (const body_stmt *s = list->first; s; s = s->next) {
        bool let = s->kind == STMT_LET;
        if (let)
            p->own_let[s->variable->id] = true;
        note_expr(p, s->value, let && where == HOIST_DONE ? HOIST_IN_LET : where);
        for (uint32_t i = 0; s->kind == STMT_STORE && i < s->array->rank; i++)
            note_expr(p, s->subscript[i], where == HOIST_DONE ? HOIST_IN_SUBSCRIPT : where);
        note_list(p, &s->body, where);
        note_list(p, &s->otherwise, where);
    }
}

/* Rule 3: HOIST_DONE when the block contributes its loads. */
static hoist_verdict source(const body_stmt *block) {
    const body_stmt *store = store_of(&block->body);
    if (has_if(&block->body))
        return HOIST_IN_IF;
    return store->array->space == SPACE_LOCAL && store->value->kind == EXPR_LOAD ? HOIST_LOCAL_INIT : HOIST_DONE;
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static void collect(pass *p, const body_expr *e);

/* Rule 5. What the two sides put on the stack gives way to what is in both. */
static void collect_select(pass *p, const body_expr *e) {
    collect(p, e->arg[0]);
    size_t first = p->depth;
    collect(p, e->arg[1]);
    size_t second = p->depth, kept = first;
    collect(p, e->arg[2]);
    uint64_t stamp = ++p->selects;
    for (size_t i = second; i < p->depth; i++)
        p->stack[i]->stamp = stamp;
    for (size_t i = first; i < second; i++)
        if (p->stack[i]->stamp == stamp)
            p->stack[kept++] = p->stack[i];
    p->depth = kept;
}

/* Puts the loads that qualify on the stack, as they are visited. */
static void collect(pass *p, const body_expr *e) {
    if (e->kind == EXPR_LOAD) {
        if (qualify(p, e) != HOIST_DONE)
            return;
        void *stack = p->stack;
        entry *found = entry_of(p, e);
        if (!found || !mem_reserve(&stack, &p->stack_capacity, p->depth + 1, sizeof(entry *))) {
            p->failed = true;
            return;
        }
        p->stack = stack;
        p->stack[p->depth++] = found;
        return;
    }
    if (e->kind == EXPR_SELECT) {
        collect_select(p, e);
        return;
    }
    for (uint32_t i = 0; i < e->args && !p->failed; i++)
        collect(p, e->arg[i]);
}

/* Largest array first, then as they came. */
static int by_size(const void *a, const void *b) {
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    if (x->load.array->estimate != y->load.array->estimate)
        return x->load.array->estimate > y->load.array->estimate ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Leaves the loads to hoist on the stack, in their order. */
static void choose(pass *p, const body_list *leaf) {
    p->depth = 0;
    for (const body_stmt *s = leaf->first; s && !p->failed; s = s->next)
        if (source(s) == HOIST_DONE)
            collect(p, store_of(&s->body)->value);
    size_t unique = 0;
    for (size_t i = 0; i < p->depth; i++) {
        entry *e = p->stack[i];
        if (e->candidate)
            continue;
        e->candidate = true;
        e->order = (uint32_t)unique;
        e->load.verdict = HOIST_LIMIT;
        p->stack[unique++] = e;
    }
    if (unique > 0)
        qsort(p->stack, unique, sizeof(entry *), by_size);
    p->depth = unique < p->report->limit ? unique : p->report->limit;
}

/* ---- rewriting --------------------------------------------------------------------------------------------------- */

/* A name that nothing else in the body has: a_local, a_local_1, ... */
static const char *new_name(pass *p, const body_array *a) {
    char name[BODY_NAME_MAX + 1], ending[24] = "_local";
    for (;;) {
        uint32_t n = p->names[a->id]++;
        if (n > 0)
            snprintf(ending, sizeof ending, "_local_%u", n);
        snprintf(name, sizeof name, "%.*s%s", BODY_NAME_MAX - (int)strlen(ending), a->name, ending);
        interned *known = intern(&p->taken, name, strlen(name));
        if (!known)
            return NULL;
        if (!known->value) {
            known->value = p;
            return arena_string(&p->b->memory, name);
        }
    }
}

/* `let a_local = a[...]` at the end of the list. */
static void make_let(pass *p, entry *e, body_list *list) {
    body *b = p->b;
    const body_expr *use = e->use;
    const char *name = new_name(p, use->array);
    body_variable *v = arena_alloc(&b->memory, sizeof *v);
    body_stmt *s = body_new_stmt(b, STMT_LET, (body_place){0});
    body_expr *load = body_new_expr(b, EXPR_LOAD, use->type, 0, use->at);
    e->let = body_new_expr(b, EXPR_LET, use->type, 0, (body_place){0});
    if (!name || !v || !s || !load || !e->let) {
        p->failed = true;
        return;
    }
    *v = (body_variable){.name = name, .type = use->type, .definition = s, .id = b->variables++};
    e->let->variable = s->variable = v;
    e->load.verdict = HOIST_DONE;
    e->load.let = name;
    *load = *use; /* takes over the subscripts: every use of the load goes */
    s->value = load;
    body_append(list, s);
}

/* Rule 8, second half. */
static void replace(pass *p, body_expr **at) {
    body_expr *e = *at;
    if (e->kind == EXPR_LOAD) {
        const entry *known = entry_of(p, e);
        if (known && known->let)
            *at = known->let;
        return;
    }
    uint16_t height = 0;
    for (uint32_t i = 0; i < e->args && !p->failed; i++) {
        replace(p, &e->arg[i]);
        height = e->arg[i]->height > height ? e->arg[i]->height : height;
    }
    e->height = (uint16_t)(height + 1);
}

static void replace_in_list(pass *p, body_list *list) {
    for (body_stmt *s = list->first; s && !p->failed; s = s->next) {
        if (s->value)
            replace(p, &s->value);
        for (uint32_t i = 0; s->kind == STMT_STORE && i < s->array->rank && !p->failed; i++)
            replace(p, &s->subscript[i]);
        replace_in_list(p, &s->body);
        replace_in_list(p, &s->otherwise);
    }
}

static void rewrite(pass *p, body_list *leaf) {
    body_list front = {0};
    for (size_t i = 0; i < p->depth && !p->failed; i++)
        make_let(p, p->stack[i], &front);
    if (p->depth == 0 || p->failed)
        return;
    replace_in_list(p, leaf);
    front.last->next = leaf->first;
    leaf->first = front.first;
    leaf->count += front.count;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static hoist_leaf *new_leaf(pass *p, const body_list *list, const body_stmt *loop) {
    hoist_report *r = p->report;
    void *leaves = r->leaf;
    if (!mem_reserve(&leaves, &r->leaf_capacity, r->leaves + 1, sizeof *r->leaf)) {
        p->failed = true;
        return NULL;
    }
    r->leaf = leaves;
    r->leaf[r->leaves] = (hoist_leaf){.at = list->first->at, .loop = loop};
    return &r->leaf[r->leaves++];
}

/* The hoisted ones in their order, then the others as they came. */
static void report_loads(pass *p, hoist_leaf *leaf) {
    leaf->load = arena_alloc(&p->report->memory, p->entries * sizeof *leaf->load);
    p->failed = p->failed || !leaf->load;
    for (size_t i = 0; i < p->depth && !p->failed; i++)
        leaf->load[leaf->loads++] = p->stack[i]->load;
    leaf->hoisted = leaf->loads;
    p->report->hoisted += leaf->hoisted;
    for (size_t i = 0; i < p->entries && !p->failed; i++)
        if (!p->entry[i]->let)
            leaf->load[leaf->loads++] = p->entry[i]->load;
}

static void set_texts(pass *p) {
    for (size_t i = 0; i < p->entries && !p->failed; i++) {
        interned *text = text_of(p, p->entry[i]->use);
        p->entry[i]->load.text = text ? arena_string(&p->report->memory, text->text) : NULL;
        p->failed = !p->entry[i]->load.text;
    }
}

static void treat_leaf(pass *p, body_list *list, hoist_leaf *leaf) {
    p->entries = p->depth = 0;
    for (const body_stmt *s = list->first; s && !p->failed; s = s->next)
        note_list(p, &s->body, source(s));
    set_texts(p);
    if (!p->failed)
        choose(p, list);
    if (!p->failed)
        rewrite(p, list);
    if (!p->failed)
        report_loads(p, leaf);
    intern_free(&p->texts);
}

/* Rule 2, in words; NULL: a leaf block. */
static const char *obstacle(const body_list *list, const body_stmt *loop) {
    static const char *const beside[] = {[STMT_STORE] = "a store stands beside its blocks",
                                         [STMT_LET] = "a let stands beside its blocks",
                                         [STMT_IF] = "an if stands beside its blocks",
                                         [STMT_FOR] = "a loop stands beside its blocks",
                                         [STMT_BLOCK] = "a root block stands beside its blocks"};
    if (!loop)
        return "it is not in a loop";
    for (const body_stmt *s = list->first; s; s = s->next)
        if (!is_schedule_block(s))
            return beside[s->kind];
    return NULL;
}

static void treat_list(pass *p, body_list *list, const body_stmt *loop) {
    bool blocks = false;
    for (const body_stmt *s = list->first; s && !blocks; s = s->next)
        blocks = is_schedule_block(s);
    hoist_leaf *leaf = blocks ? new_leaf(p, list, loop) : NULL;
    if (!leaf)
        return;
    leaf->obstacle = obstacle(list, loop);
    if (!leaf->obstacle)
        treat_leaf(p, list, leaf);
}

static void walk(pass *p, body_list *list, const body_stmt *loop) {
    for (body_stmt *s = list->first; s && !p->failed; s = s->next) {
        if (is_schedule_block(s)) {
            p->written[store_of(&s->body)->array->id] = true;
            continue;
        }
        walk(p, &s->body, s->kind == STMT_FOR ? s : loop);
        walk(p, &s->otherwise, loop);
    }
    if (!p->failed)
        treat_list(p, list, loop);
}

/* ---- names and memory -------------------------------------------------------------------------------------------- */

static void take_name(pass *p, const char *name) {
    interned *known = intern(&p->taken, name, strlen(name));
    if (known)
        known->value = p;
    p->failed = p->failed || !known;
}

static void take_names(pass *p, const body_list *list) {
    for (const body_stmt *s = list->first; s && !p->failed; s = s->next) {
        if (s->variable)
            take_name(p, s->variable->name);
        take_names(p, &s->body);
        take_names(p, &s->otherwise);
    }
}

static void run_pass(pass *p) {
    body *b = p->b;
    p->written = mem_zero(b->arrays, sizeof *p->written);
    p->names = mem_zero(b->arrays, sizeof *p->names);
    p->own_let = mem_zero(b->variables, sizeof *p->own_let);
    p->failed = !p->written || !p->names || !p->own_let;
    for (uint32_t i = 0; i < b->params && !p->failed; i++)
        take_name(p, b->param[i]->name);
    for (uint32_t i = 0; i < b->arrays && !p->failed; i++)
        take_name(p, b->array[i]->name);
    take_names(p, &b->list);
    if (!p->failed)
        walk(p, &b->list, NULL);
}

static void free_pass(pass *p) {
    mem_free(p->written);
    mem_free(p->names);
    mem_free(p->own_let);
    mem_free(p->entry);
    mem_free(p->stack);
    textbuf_free(&p->scratch);
    intern_free(&p->taken);
    intern_free(&p->texts);
}

status hoist(const body *in, uint32_t limit, body *out, hoist_report *report, message *m) {
    *report = (hoist_report){.limit = limit};
    TRY(body_copy(in, out, m));
    pass p = {.b = out, .report = report};
    run_pass(&p);
    free_pass(&p);
    if (!p.failed)
        return OK;
    body_free(out);
    hoist_report_free(report);
    return fail(m, ERR_MEMORY, "not enough memory to hoist loads");
}
