/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-time program: reads data/isa/x86-mnemonics.tsv and writes it as a C table. The index is the
 * mnemonic number of the decoder library. The build fails if a mnemonic of the library is missing,
 * named twice or unknown. It fails if a word of the table is unknown. So the classification is
 * always complete. Usage: gen-isa-table TABLE.tsv OUTPUT.c
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "isa/isa.h"

enum { COLUMNS = 9, MNEMONICS = ZYDIS_MNEMONIC_MAX_VALUE + 1 };

struct word {
    const char *word;
    const char *symbol;
};

static const struct word classes[] = {
#define CLASS_WORD(name, text) {text, "AS_CLASS_" #name},
    AS_CLASS_LIST(CLASS_WORD)
#undef CLASS_WORD
};

/* The symbol carries the element and its size; 0 = as wide as the first operand. */
static const struct word elements[] = {
    {"-", "AS_ELEMENT_NONE, 0"},    {"int", "AS_ELEMENT_INT, 0"},   {"int8", "AS_ELEMENT_INT, 1"},
    {"int16", "AS_ELEMENT_INT, 2"}, {"int32", "AS_ELEMENT_INT, 4"}, {"int64", "AS_ELEMENT_INT, 8"},
    {"f16", "AS_ELEMENT_F16, 2"},   {"bf16", "AS_ELEMENT_BF16, 2"}, {"f32", "AS_ELEMENT_F32, 4"},
    {"f64", "AS_ELEMENT_F64, 8"},   {"f80", "AS_ELEMENT_F80, 10"},  {"bcd", "AS_ELEMENT_BCD, 10"},
};

static const struct word lanes[] = {
    {"-", "0"}, {"packed", "AS_TRAIT_PACKED"}, {"scalar", "AS_TRAIT_SCALAR"}};

static const struct word packables[] = {{"yes", "AS_TRAIT_PACKABLE"}, {"no", "0"}};

static const struct word traits[] = {
    {"-", "0"},
    {"aligned", "AS_TRAIT_ALIGNED"},
    {"conditional", "AS_TRAIT_CONDITIONAL"},
    {"ends", "AS_TRAIT_ENDS"},
    {"nontemporal", "AS_TRAIT_NONTEMPORAL"},
    {"ones", "AS_TRAIT_ONES"},
    {"privileged", "AS_TRAIT_PRIVILEGED"},
    {"regmove", "AS_TRAIT_REGMOVE"},
    {"serialising", "AS_TRAIT_SERIALISING"},
    {"stack", "AS_TRAIT_STACK"},
    {"unaligned", "AS_TRAIT_UNALIGNED"},
    {"x87", "AS_TRAIT_X87"},
    {"zeroing", "AS_TRAIT_ZEROING"},
};

#define LOOKUP(table, word) lookup(table, sizeof table / sizeof *table, #table, word)

static const char *path;
static int line_no;
static bool failed;

__attribute__((format(printf, 1, 2))) static void complain(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s:%d: ", path, line_no);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    failed = true;
}

static const char *lookup(const struct word *table, size_t n, const char *kind, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(table[i].word, word))
            return table[i].symbol;
    complain("'%s' is not a word of %s", word, kind);
    return "0";
}

static int mnemonic_of(const char *word)
{
    for (int m = 0; m < MNEMONICS; m++) {
        const char *name = ZydisMnemonicGetString((ZydisMnemonic)m);
        if (name && !strcmp(name, word))
            return m;
    }
    return -1;
}

static int number(const char *word)
{
    char *end;
    long value = strtol(word, &end, 10);
    if (end == word || *end || value < 0 || value > 255) {
        complain("'%s' is not a number of operations (0 to 255)", word);
        return 0;
    }
    return (int)value;
}

/* One line of the table as an initialiser. */
static void emit(FILE *out, int mnemonic, char *column[COLUMNS])
{
    fprintf(out, "    [%d] = {\"%s\", 0", mnemonic, column[0]);
    char *rest = column[8];
    for (char *word; (word = strsep(&rest, ","));)
        fprintf(out, " | %s", LOOKUP(traits, word));
    fprintf(out, " | %s | %s, ", LOOKUP(lanes, column[4]), LOOKUP(packables, column[5]));
    fprintf(out, "%s, %s, ", LOOKUP(classes, column[1]), LOOKUP(elements, column[2]));
    const char *source = strcmp(column[3], "-") ? column[3] : column[2];
    fprintf(out, "%s, %d, %d},\n", LOOKUP(elements, source), number(column[6]), number(column[7]));
}

static int split(char *line, char *column[COLUMNS])
{
    int n = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *word; (word = strsep(&line, "\t")); n++)
        if (n < COLUMNS)
            column[n] = word;
    return n;
}

static void convert(FILE *in, FILE *out)
{
    static int seen[MNEMONICS];
    char line[512];
    while (fgets(line, sizeof line, in)) {
        line_no++;
        char *column[COLUMNS];
        if (line[0] == '#' || line[0] == '\n')
            continue;
        int n = split(line, column);
        if (n != COLUMNS) {
            complain("%d columns where %d are expected", n, COLUMNS);
            continue;
        }
        int m = mnemonic_of(column[0]);
        if (m < 0)
            complain("'%s' is no mnemonic of this version of the decoder", column[0]);
        else if (seen[m])
            complain("'%s' stands already in line %d", column[0], seen[m]);
        else
            emit(out, m, column);
        if (m >= 0)
            seen[m] = line_no;
    }
    for (int m = 0; m < MNEMONICS; m++)
        if (!seen[m])
            complain("'%s' is not classified; add a line (class \"system\" when not modelled)",
                     ZydisMnemonicGetString((ZydisMnemonic)m));
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: gen-isa-table TABLE.tsv OUTPUT.c\n");
        return 2;
    }
    path = argv[1];
    FILE *in = fopen(argv[1], "r");
    FILE *out = fopen(argv[2], "w");
    if (!in || !out) {
        perror(in ? argv[2] : argv[1]);
        return 1;
    }
    fprintf(out, "/* Written from the mnemonic table by gen-isa-table. */\n"
                 "#include \"isa/table.h\"\n\nconst struct as_isa_row as_isa_rows[] = {\n");
    convert(in, out);
    fprintf(out, "};\n\nconst unsigned as_isa_rows_n = %d;\n", MNEMONICS);
    if (fclose(out) || failed) {
        remove(argv[2]);
        return 1;
    }
    return 0;
}
