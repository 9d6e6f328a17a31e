/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged DWARF and failing allocations. For any bytes in the debug sections, reading ends with
 * consistent tables or with one error.
 */
#include "dwarf_fixture.h"

#include "object/variables.h"

#include "base/alloc.h"

struct bytes {
    uint8_t *p;
    size_t n;
};

static struct bytes slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    struct bytes b = {.n = (size_t)ftell(f)};
    rewind(f);
    b.p = malloc(b.n);
    assert_non_null(b.p);
    assert_int_equal(fread(b.p, 1, b.n, f), b.n);
    fclose(f);
    return b;
}

/* Every index leads somewhere, every string ends, parents come first, rows ascend. */
static void check_tables(const struct as_object *object, const struct as_debug *d)
{
    size_t strings = 0;
    for (size_t i = 0; i < d->unit_n; i++) {
        strings += strlen(d->unit[i].name);
        strings += d->unit[i].producer ? strlen(d->unit[i].producer) : 0;
    }
    for (size_t i = 0; i < d->file_n; i++)
        strings += strlen(d->file[i]);
    for (size_t i = 0; i < d->line_n; i++) {
        assert_true(i == 0 || d->line[i - 1].address <= d->line[i].address);
        assert_true(d->line[i].file == AS_NONE || d->line[i].file < d->file_n);
    }
    for (size_t i = 0; i < d->inline_n; i++) {
        const struct as_inline *in = &d->inlines[i];
        strings += strlen(in->name);
        assert_true(in->parent == AS_NONE || in->parent < i);
        assert_true(in->unit == AS_NONE || in->unit < d->unit_n);
        assert_true(in->decl_file == AS_NONE || in->decl_file < d->file_n);
        assert_true(in->call_file == AS_NONE || in->call_file < d->file_n);
        assert_true((size_t)in->first_range + in->ranges <= d->range_n);
        const struct as_range *range = &d->range[in->first_range];
        uint32_t at = as_debug_inline_at(object, range->start);
        assert_true(at == AS_NONE || at < d->inline_n);
    }
    assert_true(strings < SIZE_MAX);
}

/* Follows the variables of some functions to their types and members. */
static void check_variables(struct as_object *object, const struct as_debug *d)
{
    for (size_t i = 0; i < d->inline_n && i < 4; i++) {
        const struct as_range *range = &d->range[d->inlines[i].first_range];
        struct as_data_variables v;
        assert_int_equal(as_object_variables(object, range->start, range->end, &v, NULL), 0);
        for (size_t k = 0; k < v.variable_n; k++) {
            struct as_type type;
            struct as_member member;
            assert_true(strlen(v.variable[k].name) > 0);
            assert_true(v.variable[k].scope == AS_NONE || v.variable[k].scope < v.scope_n);
            as_type_get(v.variable[k].type, &type);
            assert_true(type.rank <= AS_RANK_MAX);
            as_type_member(type.target, k, &member);
            if (as_type_member(v.variable[k].type, k, &member))
                assert_true(strlen(member.path) < sizeof member.path);
        }
        for (size_t k = 0; k < v.place_n; k++) {
            assert_true(v.place[k].variable < v.variable_n && v.place[k].reg < 16);
            assert_true(v.place[k].start < v.place[k].end);
        }
        for (uint32_t k = 0; k < v.scope_n; k++) {
            assert_true(v.scope[k].parent == AS_NONE || v.scope[k].parent < k);
            as_scope_holds(&v, k, range->start);
        }
        as_data_variables_free(&v);
    }
}

/* Opens the bytes and loads all; whether they were taken for an object at all. */
static bool load(const struct bytes *b, size_t *damaged)
{
    static const struct as_object_options options = {.debug_dirs = ""};
    struct as_object *object = NULL;
    struct as_debug debug;
    if (as_object_open_memory(b->p, b->n, "hostile", &options, &object, NULL) < 0)
        return false;
    assert_int_equal(as_object_debug(object, AS_DEBUG_ALL, 1, &debug, damaged, NULL), 0);
    check_tables(object, &debug);
    check_variables(object, &debug);
    as_object_close(&object);
    return true;
}

static uint64_t rng = 88172645463325252u;

static uint64_t next(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return rng;
}

static void flip(const char *path, size_t rounds)
{
    struct bytes whole = slurp(path), work = {malloc(whole.n), whole.n};
    assert_non_null(work.p);
    struct as_object *object = NULL;
    assert_int_equal(as_object_open_memory(whole.p, whole.n, path, NULL, &object, NULL), 0);
    const struct as_section *section;
    size_t n = as_object_sections(object, &section), tried = 0, hurt = 0;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(section[i].name, ".debug_", 7) != 0 || section[i].size_b == 0 ||
            section[i].offset + section[i].size_b > whole.n)
            continue;
        for (size_t k = 0; k < rounds; k++) {
            memcpy(work.p, whole.p, whole.n);
            /* One bit, a few bytes, or a cut: by turns. */
            for (size_t m = 0; m <= k % 4; m++) {
                size_t at = section[i].offset + next() % section[i].size_b;
                uint8_t bit = (uint8_t)(work.p[at] ^ (uint8_t)(1u << next() % 8));
                uint8_t byte = k % 3 ? (uint8_t)next() : 0xff;
                work.p[at] = k % 4 == 0 ? bit : byte;
            }
            size_t damaged = 0;
            assert_true(load(&work, &damaged));
            hurt += damaged != 0;
            tried++;
        }
    }
    assert_true(tried >= 4 * rounds);
    assert_true(hurt > 0);
    as_object_close(&object);
    free(whole.p);
    free(work.p);
}

static void test_flips(void **state)
{
    (void)state;
    fixture_run("gcc -O2 -gdwarf-5 two.c -o five && gcc -O2 -gdwarf-4 -gz two.c -o four && "
                "clang -O2 -gdwarf-5 -c two.c -o rel.o && gcc -O2 -gdwarf-2 two.c -o two");
    flip("five", 400);
    flip("four", 200);
    flip("rel.o", 200);
    flip("two", 200);
}

static void test_flips_of_variables(void **state)
{
    (void)state;
    fixture_run("printf '%%s\\n' 'struct in { char c; double *m; };' "
                "'struct s { int n; struct in in; double own[3][4]; struct s *next; };' "
                "'static struct s all[3]; extern int far;' "
                "'double f(struct s *p, int n, double (*v)[n]) { double t[n], x = far;' "
                "'for (int i = 0; i < n; i++) { t[i] = v[i][0] + p->in.m[i]; x += t[i]; }' "
                "'return x + all[n].n; }' > v.c && "
                "gcc -c -O2 -g v.c -o v.o && clang -c -O2 -g v.c -o vc.o && "
                "gcc -c -O2 -gdwarf-4 v.c -o v4.o");
    flip("v.o", 300);
    flip("vc.o", 300);
    flip("v4.o", 200);
}

/* Records that another unit defines, by name and by signature. */
static void test_flips_of_definitions(void **state)
{
    (void)state;
    fixture_run("printf '%%s\\n' 'namespace own { struct P { P(); int n; double *u; };' "
                "'template <class T> struct B { B(); T *at; P in; }; }' "
                "'struct D : own::P { D(); own::B<float> b; };' > d.h && "
                "printf '%%s\\n' '#include \"d.h\"' 'own::P::P() : n(1), u(0) {}' "
                "'template <class T> own::B<T>::B() : at(0) {}' "
                "'template struct own::B<float>; D::D() {}' > d1.cpp && "
                "printf '%%s\\n' '#include \"d.h\"' "
                "'double f(own::P *p, D *d) { double s = d->b.at[2];' "
                "'for (int i = 0; i < p->n; i++) s += p->u[i] + d->u[i]; return s; }' > d2.cpp && "
                "clang++ -O2 -gdwarf-5 -fPIC -shared -nostdlib d1.cpp d2.cpp -o d5.so && "
                "clang++ -O2 -gdwarf-4 -fPIC -shared -nostdlib d1.cpp d2.cpp -o d4.so && "
                "clang++ -O2 -gdwarf-5 -fdebug-types-section -fPIC -shared -nostdlib d1.cpp d2.cpp "
                "-o dt.so");
    flip("d5.so", 300);
    flip("d4.so", 200);
    flip("dt.so", 300);
}

/* A unit that is damaged takes no other with it. */
static void test_one_unit(void **state)
{
    (void)state;
    fixture_run("sed s/main/other/ two.c | sed s/outer/outer2/ > three.c && "
                "gcc -O0 -gdwarf-4 two.c three.c -o prog");
    struct bytes b = slurp("prog");
    struct as_object *object = NULL;
    struct as_debug debug;
    size_t damaged = 0;
    assert_int_equal(as_object_open_memory(b.p, b.n, "prog", NULL, &object, NULL), 0);
    const struct as_section *section;
    size_t n = as_object_sections(object, &section);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(section[i].name, ".debug_info") == 0)
            b.p[section[i].offset + 11] = 0x7f; /* an abbreviation that is not there */
    }
    as_object_close(&object);
    assert_int_equal(as_object_open_memory(b.p, b.n, "prog", NULL, &object, NULL), 0);
    assert_int_equal(as_object_debug(object, AS_DEBUG_ALL, 1, &debug, &damaged, NULL), 0);
    assert_int_equal(damaged, 1);
    assert_int_equal(debug.unit_n, 1);
    assert_int_equal(fixture_count(&debug, "outer2"), 1);
    assert_int_equal(fixture_count(&debug, "outer"), 0);
    as_object_close(&object);
    free(b.p);
}

static void test_no_memory(void **state)
{
    (void)state;
    fixture_run("rm -f *.dwo; gcc -O2 -gz -gdwarf-5 two.c -o prog");
    for (int64_t after = 0; after < 5000; after++) {
        struct as_object *object = NULL;
        struct as_debug debug;
        struct as_error err = {0};
        as_alloc_fail_after(after);
        int rc = as_object_open("prog", NULL, &object, &err);
        if (rc == 0)
            rc = as_object_debug(object, AS_DEBUG_ALL, 1, &debug, NULL, &err);
        as_alloc_fail_after(-1);
        if (rc == 0) {
            assert_int_equal(debug.unit_n, 1);
            assert_true(debug.inline_n > 1 && debug.line_n > 5);
            as_object_close(&object);
            assert_true(after > 20);
            return;
        }
        assert_int_equal(rc, AS_ERR_NOMEM);
        assert_true(err.text[0] != 0);
        as_object_close(&object);
    }
    fail_msg("never enough memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_flips_of_variables),
        cmocka_unit_test(test_flips_of_definitions),
        cmocka_unit_test(test_one_unit),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("object/dwarf_hostile", tests, fixture_setup,
                                       fixture_teardown);
}
