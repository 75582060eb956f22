#include "trace/opcode.h"

#include <stdio.h>
#include <string.h>

/* Opcodes by class, each between blanks. A trailing * stands for any rest. Tensor and packed half instructions are
 * charged as fp32: machines describe no pipes of their own for them. */
static const struct {
    op_class op;
    const char *names;
} classes[] = {
    {OP_INT, " IADD IADD3 IADD32I LOP LOP3 LOP32I SHF SHL SHR ISETP ISET ICMP MOV MOV32I SEL LEA ISCADD ISCADD32I BFE"
             " BFI POPC FLO PRMT P2R R2P PSETP PSET PLOP3 CSET CSETP VOTE VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX"
             " VIMNMX3 IABS IMNMX SGXT BMSK LEPC CS2R B2R R2B FCHK MATCH REDUX SHFL VMAD VADD VSHL VSHR VSETP BREV "},
    {OP_IMUL, " IMAD XMAD IMUL IMUL32I IMAD32I IDP IDP4A IMADSP IDE "},
    {OP_FP32, " FADD FADD32I FMUL FMUL32I FFMA FFMA32I FSETP FSET FMNMX FMNMX3 FSEL FCMP FSWZADD FSWZ HADD2 HADD2_32I"
              " HMUL2 HMUL2_32I HFMA2 HFMA2_32I HSET2 HSETP2 HMNMX2 HMMA IMMA BMMA HGMMA IGMMA QGMMA BGMMA WARPGROUP"
              " FADD2 FMUL2 FFMA2 "},
    {OP_FP64, " DADD DMUL DFMA DSETP DSET DMNMX DMMA "},
    {OP_SFU, " MUFU RRO "},
    {OP_CONVERT, " F2F F2I I2F I2I FRND F2FP I2FP F2IP I2IP "},
    {OP_SCALAR,
     " UMOV UIADD3 ULOP ULOP3 USHF USHL USHR USEL UISETP ULEA UIMAD UPRMT UFLO UPOPC UBMSK USGXT UPLOP3 UP2UR"
     " UR2P UPSETP UCLEA UBREV UIADD UVOTE VOTEU UMEMSETS R2UR S2UR S2R NOP DEPBAR LDGDEPBAR MEMBAR FENCE"
     " ERRBAR CCTL CCTLL CCTLT GETLMEMBASE SETLMEMBASE GETCRSPTR SETCRSPTR ARRIVES SYNCS ELECT ACQBULK"
     " ENDCOLLECTIVE PREEXIT USETMAXREG UF2FP UFADD UFMUL UFFMA UFSETP UI2F UF2I R2B UCGABAR_ARV"
     " UCGABAR_WAIT UTMACCTL UTMAPF UTMALDG UTMASTG UTMAREDG UBLKCP UBLKPF UBLKRED TXQ AL2P VOTE_VTG "},
    {OP_CONST_LOAD, " LDC ULDC LDCU TEX TEXS TLD TLDS TLD4 TLD4S TXD TXA TMML FOOTPRINT "},
    {OP_BRANCH,
     " BRA BRX JMP JMX JCAL CAL CALL RET BSSY BSYNC BREAK SSY SYNC PBK BRK PCNT CONT PRET PEXIT LONGJMP PLONGJMP"
     " WARPSYNC YIELD BMOV KILL NANOSLEEP BPT RPCMOV BRXU JMXU RTT IDE SAM RAM BRA_IMM "},
    {OP_BARRIER, " BAR "},
    {OP_EXIT, " EXIT "},
};

static const struct {
    const char *name;
    op_class op;
    opcode_memory memory;
    bool atomic;
} memories[] = {
    {"LDG", OP_LOAD, MEMORY_GLOBAL, false},          {"STG", OP_STORE, MEMORY_GLOBAL, false},
    {"LDL", OP_LOAD, MEMORY_LOCAL, false},           {"STL", OP_STORE, MEMORY_LOCAL, false},
    {"LDS", OP_SHARED_LOAD, MEMORY_SHARED, false},   {"STS", OP_SHARED_STORE, MEMORY_SHARED, false},
    {"LDSM", OP_SHARED_LOAD, MEMORY_SHARED, false},  {"STSM", OP_SHARED_STORE, MEMORY_SHARED, false},
    {"LD", OP_LOAD, MEMORY_GENERIC, false},          {"ST", OP_STORE, MEMORY_GENERIC, false},
    {"LDGSTS", OP_LOAD, MEMORY_GLOBAL, false},       {"ATOM", OP_LOAD, MEMORY_GENERIC, true},
    {"ATOMG", OP_LOAD, MEMORY_GLOBAL, true},         {"RED", OP_STORE, MEMORY_GLOBAL, true},
    {"ATOMS", OP_SHARED_LOAD, MEMORY_SHARED, true},  {"SULD", OP_LOAD, MEMORY_GLOBAL, false},
    {"SUST", OP_STORE, MEMORY_GLOBAL, false},        {"SUATOM", OP_LOAD, MEMORY_GLOBAL, true},
    {"SURED", OP_STORE, MEMORY_GLOBAL, true},        {"REDG", OP_STORE, MEMORY_GLOBAL, true},
    {"REDAS", OP_SHARED_STORE, MEMORY_SHARED, true},
};

/* The next token of a dotted text. */
static bool token(const char **p, const char *end, const char **text, size_t *length) {
    if (*p >= end)
        return false;
    const char *dot = memchr(*p, '.', (size_t)(end - *p));
    *text = *p;
    *length = (size_t)((dot ? dot : end) - *p);
    *p = dot ? dot + 1 : end;
    return true;
}

static bool is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool has_token(const char *text, size_t length, const char *word) {
    const char *p = text, *part;
    size_t n;
    while (token(&p, text + length, &part, &n))
        if (is(part, n, word))
            return true;
    return false;
}

/* Bits in a suffix such as 128, U8, S16; 0: it says nothing of the width. */
static uint32_t bits(const char *text, size_t length) {
    if (length && (*text == 'U' || *text == 'S')) {
        text++;
        length--;
    }
    uint32_t value = 0;
    if (length < 1 || length > 3)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    return value == 8 || value == 16 || value == 32 || value == 64 || value == 128 ? value : 0;
}

static uint8_t bytes_of(const char *text, size_t length) {
    const char *p = text, *part;
    size_t n;
    for (token(&p, text + length, &part, &n); token(&p, text + length, &part, &n);) {
        const uint32_t width = bits(part, n);
        if (width)
            return (uint8_t)(width / 8);
    }
    return 4;
}

static bool listed(const char *names, const char *text, size_t length) {
    char word[32];
    if (length + 3 > sizeof word)
        return false;
    snprintf(word, sizeof word, " %.*s ", (int)length, text);
    return strstr(names, word) != NULL;
}

static uint8_t words(uint32_t bytes) {
    return (uint8_t)(bytes > 4 ? bytes / 4 : 1);
}

static bool memory_info(opcode_info *x, const char *name, size_t n, const char *text, size_t length, bool has_dst) {
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        if (!is(name, n, memories[i].name))
            continue;
        /* Each lane of a matrix access names a row of 16 bytes. */
        x->bytes = is(name, n, "LDSM") || is(name, n, "STSM") ? 16 : bytes_of(text, length);
        x->op = memories[i].op;
        x->memory = memories[i].memory;
        x->atomic = memories[i].atomic;
        if (x->atomic && x->op == OP_LOAD && !has_dst)
            x->op = OP_STORE;
        x->dst_words = x->data_words = words(x->bytes);
        x->address_words = has_token(text, length, "E") ? 2 : 1;
        return true;
    }
    return false;
}

opcode_info opcode_parse(const char *text, size_t length, bool has_dst) {
    opcode_info x = {.op = OP_INT, .dst_words = 1, .address_words = 1, .data_words = 1, .known = true};
    const char *p = text, *name = text;
    size_t n = 0;
    token(&p, text + length, &name, &n);
    if (memory_info(&x, name, n, text, length, has_dst))
        return x;
    bool found = false;
    for (size_t i = 0; i < sizeof classes / sizeof *classes && !found; i++) {
        found = listed(classes[i].names, name, n);
        if (found)
            x.op = classes[i].op;
    }
    x.known = found;
    if (x.op == OP_IMUL && has_token(text, length, "HI"))
        x.op = OP_IMUL_HI;
    if (x.op == OP_IMUL && has_token(text, length, "WIDE")) {
        x.op = OP_IMUL_WIDE;
        x.dst_words = 2;
    }
    if (x.op == OP_FP64)
        x.dst_words = x.address_words = x.data_words = 2;
    if (x.op == OP_CONST_LOAD)
        x.dst_words = words(bytes_of(text, length));
    return x;
}

char *opcode_print(char *buffer, size_t size, op_class op, ir_space space, uint32_t bytes) {
    static const char *const plain[OP_CLASS_COUNT] = {
        [OP_INT] = "IADD3",     [OP_IMUL] = "IMAD",      [OP_IMUL_HI] = "IMAD.HI", [OP_IMUL_WIDE] = "IMAD.WIDE",
        [OP_FP32] = "FFMA",     [OP_FP64] = "DFMA",      [OP_SFU] = "MUFU.RCP",    [OP_CONVERT] = "I2F",
        [OP_SCALAR] = "UIADD3", [OP_CONST_LOAD] = "LDC", [OP_BRANCH] = "BRA",      [OP_BARRIER] = "BAR.SYNC",
        [OP_LOAD] = "LDG.E",    [OP_STORE] = "STG.E",    [OP_SHARED_LOAD] = "LDS", [OP_SHARED_STORE] = "STS",
        [OP_EXIT] = "EXIT",
    };
    const bool memory = op == OP_LOAD || op == OP_STORE || op == OP_SHARED_LOAD || op == OP_SHARED_STORE;
    const char *name = plain[op], *suffix = "";
    if (space == SPACE_LOCAL && op == OP_LOAD)
        name = "LDL";
    if (space == SPACE_LOCAL && op == OP_STORE)
        name = "STL";
    if (memory)
        suffix = bytes == 1 ? ".U8" : bytes == 2 ? ".U16" : bytes == 8 ? ".64" : bytes == 16 ? ".128" : "";
    snprintf(buffer, size, "%s%s", name, suffix);
    return buffer;
}
