// SPDX-License-Identifier: GPL-2.0-only
/* Expressions through types that a compiler wrote, as DWARF 4, DWARF 5 and BTF. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/application/binary.h"
#include "tools/dartctl/application/expression.h"

static const char source[] =
	"#include <stdbool.h>\n"
	"#include <stddef.h>\n"
	"#include <stdint.h>\n"
	"typedef int64_t number;\n"
	"enum color { RED = -1, GREEN };\n"
	"struct inner { const volatile number n; };\n"
	"struct list { struct list *next; union { uint8_t byte; struct inner in; }; };\n"
	"struct all {\n"
	"	ATOMIC uint32_t before; ATOMIC uint16_t small; bool flag; enum color color;\n"
	"	struct { struct { int deep; }; };\n"
	"	char text[7]; const char *name; struct list lists[3]; struct list *list;\n"
	"	double real; unsigned int bits : 3; int table[2][3]; uint64_t last;\n"
	"};\n"
	"struct all all;\n"
	"static volatile uint64_t hidden; static volatile uint32_t narrow;\n"
	"uint64_t get_hidden(void) { return hidden; }\n"
	"uint32_t get_narrow(void) { return narrow; }\n"
	"uint64_t get_more(void) { return hidden + 1; }\n"
	"int main(void) { hidden++; narrow++; return all.last; }\n";
/* Another source file of the same program. */
static const char other_source[] =
	"#include <stdint.h>\n"
	"typedef int64_t number;\n"
	"struct inner { const volatile number n; };\n"
	"struct list { uint64_t length; void *first; void *last; };\n"
	"struct list other;\n"
	"struct inner inner;\n";

/* The compiler's own view of offsets. */
struct list {
	struct list *next;
	union {
		uint8_t byte;
		int64_t in;
	};
};

struct all {
	uint32_t before;
	uint16_t small;
	bool flag;
	int color;
	int deep;
	char text[7];
	const char *name;
	struct list lists[3];
	struct list *list;
	double real;
	unsigned int bits : 3;
	int table[2][3];
	uint64_t last;
};

static char directory[] = "/tmp/application_types.XXXXXX";
static struct dart_error error;

static int make_files(void **state)
{
	char path[64], commands[1024];
	FILE *file;

	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/all.c", directory);
	file = fopen(path, "w");
	fputs(source, file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/other.c", directory);
	file = fopen(path, "w");
	fputs(other_source, file);
	fclose(file);
	snprintf(
		commands, sizeof(commands),
		"cd %s && cc=${CC:-gcc} && $cc -DATOMIC=_Atomic -gdwarf-4 -c -o dwarf4 all.c && "
		"$cc -DATOMIC=_Atomic -gdwarf-5 -c -o dwarf5 all.c && "
		"$cc -DATOMIC= -gdwarf-4 -c -o with_btf all.c && pahole -J with_btf && "
		"objcopy -O binary --only-section=.BTF --set-section-flags .BTF=alloc with_btf btf && "
		"strip -g -o stripped with_btf && "
		"$cc -DATOMIC= -gdwarf-4 -o two all.c other.c && pahole -J two && "
		"objcopy -O binary --only-section=.BTF --set-section-flags .BTF=alloc two two_btf && "
		"$cc -DATOMIC= -O2 -Wl,--build-id -o program all.c && strip -s -o without program",
		directory);
	return system(commands);
}

static int remove_files(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

static struct types *open_types(const char *name)
{
	struct types *types = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (types__open(&types, path, &error))
		fail_msg("%s", error.text);
	return types;
}

static int follow(const struct types *types, const char *expression, bool is_text, uint32_t width,
		  struct expression_value *value)
{
	char name[EXPRESSION_NAME_MAX];
	const char *rest = expression__variable(expression, name);
	struct type type;

	assert_non_null(rest);
	assert_string_equal(name, "all");
	assert_int_equal(types__find(types, "struct all", &type, &error), 0);
	*value = (struct expression_value){ .location.address = 0x1000 };
	return expression__follow(types, rest, &type, is_text, width, value, &error);
}

static void test_values(const char *name)
{
	static const struct {
		const char *expression;
		uint64_t address;
		uint32_t steps, offset, width, count;
		bool is_signed;
	} values[] = {
		{ "all.before", offsetof(struct all, before), 0, 0, 4, 1, false },
		{ "all.small", offsetof(struct all, small), 0, 0, 2, 1, false },
		{ "all.flag", offsetof(struct all, flag), 0, 0, 1, 1, false },
		{ "all.color", offsetof(struct all, color), 0, 0, 4, 1, true },
		{ "all.deep", offsetof(struct all, deep), 0, 0, 4, 1, true },
		{ "all.lists[2].in.n", offsetof(struct all, lists[2].in), 0, 0, 8, 1, true },
		{ "all.list->byte", offsetof(struct all, list), 1, 8, 1, 1, false },
		{ "all.list[2].in.n", offsetof(struct all, list), 1, 40, 8, 1, true },
		{ "all.list->next->in.n", offsetof(struct all, list), 2, 8, 8, 1, true },
		{ "all.last", offsetof(struct all, last), 0, 0, 8, 1, false },
	};
	struct types *types = open_types(name);
	struct expression_value value;
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (follow(types, values[i].expression, false, 0, &value))
			fail_msg("%s: %s: %s", name, values[i].expression, error.text);
		assert_int_equal(value.location.address, 0x1000 + values[i].address);
		assert_int_equal(value.location.steps, values[i].steps);
		if (value.location.steps)
			assert_int_equal(value.location.offsets[value.location.steps - 1],
					 values[i].offset);
		assert_int_equal(value.width, values[i].width);
		assert_int_equal(value.count, values[i].count);
		/* pahole 1.24 does not write the sign of enumerations. */
		if (strcmp(values[i].expression, "all.color"))
			assert_int_equal(value.is_signed, values[i].is_signed);
	}
	assert_int_equal(follow(types, "all.text", true, 0, &value), 0);
	assert_int_equal(value.width, 7);
	assert_int_equal(follow(types, "all.name", true, 16, &value), 0);
	assert_int_equal(value.width, 16);
	assert_int_equal(value.location.steps, 1);
	types__close(types);
}

static void test_dwarf(void **state)
{
	test_values("dwarf4");
	test_values("dwarf5");
}

static void test_btf(void **state)
{
	test_values("stripped");
	test_values("btf");
}

static void test_refused(void **state)
{
	static const struct {
		const char *expression, *message;
	} refused[] = {
		{ "all", "it is neither an integer nor an array of integers" },
		{ "all.none", "the structure has no member 'none'" },
		{ "all.before.x", "'x' is no member: there is no structure before it" },
		{ "all->before", "'->' stands after something that is no pointer" },
		{ "all.list", "it is a pointer, and addresses do not leave a process" },
		{ "all.list->next->next->byte", "it follows more than 2 pointers" },
		{ "all.lists[3].byte", "the array has 3 elements" },
		{ "all.before[0]", "an index stands after neither an array nor a pointer" },
		{ "all.real", "it is neither an integer nor an array of integers" },
		{ "all.bits", "'bits' is a bit-field" },
		{ "all.table", "the array has no known number of elements" },
		{ "all.lists[9999999].byte", "the array has 3 elements" },
		{ "all.list[9999999].byte", "an offset is beyond 16 MiB" },
		{ "all.list[-1].byte", "expected a number up to 8 digits in brackets" },
		{ "all.", "expected the name of a member after '.' or '->'" },
		{ "all+1", "expected '.', '->' or '[' at '+1'" },
	};
	struct types *types = open_types("dwarf5");
	struct expression_value value;
	struct type type;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_int_equal(follow(types, refused[i].expression, false, 0, &value), -EINVAL);
		assert_string_equal(error.text, refused[i].message);
	}
	assert_int_equal(follow(types, "all.name", true, 0, &value), -EINVAL);
	assert_int_equal(follow(types, "all.text", true, 3, &value), -EINVAL);
	assert_int_equal(follow(types, "all.list", true, 3, &value), -EINVAL);
	assert_string_equal(error.text, "it is no text: char[], or char * with a width");
	assert_int_equal(types__find(types, "struct none", &type, &error), -ENOENT);
	assert_string_equal(error.text,
			    "the types have no 'struct none' (compile a source file that uses it)");
	types__close(types);
}

static void test_files(void **state)
{
	struct types *types;
	char path[64];

	snprintf(path, sizeof(path), "%s/without", directory);
	assert_int_equal(types__open(&types, path, &error), -ENODATA);
	assert_non_null(strstr(error.text, "has neither DWARF nor BTF"));
	snprintf(path, sizeof(path), "%s/all.c", directory);
	assert_int_equal(types__open(&types, path, &error), -ENODATA);
	snprintf(path, sizeof(path), "%s/missing", directory);
	assert_int_equal(types__open(&types, path, &error), -ENOENT);
}

static void test_getters(void **state)
{
	uint64_t address, size, hidden, of_hidden, narrow, of_narrow;
	struct binary binary;
	char path[64];

	snprintf(path, sizeof(path), "%s/program", directory);
	if (binary__open(&binary, path, &error))
		fail_msg("%s", error.text);
	assert_int_equal(binary__find(&binary, "hidden", &hidden, &of_hidden), 0);
	assert_int_equal(binary__find(&binary, "narrow", &narrow, &of_narrow), 0);
	assert_int_equal(binary__find(&binary, "absent", &address, &size), -ENOENT);
	assert_int_equal(binary__find(&binary, "main", &address, &size), -EOPNOTSUPP);
	if (binary.machine == EM_X86_64) {
		assert_int_equal(
			binary__find_returned(&binary, "get_hidden", &address, &size, &error), 0);
		assert_int_equal(address, hidden);
		assert_int_equal(size, of_hidden);
		assert_int_equal(
			binary__find_returned(&binary, "get_narrow", &address, &size, &error), 0);
		assert_int_equal(address, narrow);
		assert_int_equal(size, of_narrow);
		assert_int_equal(binary__find_returned(&binary, "get_more", &address, &size,
						       &error),
				 -EINVAL);
		assert_int_equal(binary__find_returned(&binary, "all", &address, &size, &error),
				 -ENOENT);
	}
	binary__close(&binary);
	snprintf(path, sizeof(path), "%s/dwarf5", directory);
	assert_int_equal(binary__open(&binary, path, &error), -EINVAL);
	assert_non_null(strstr(error.text, "is neither an executable nor a shared object"));
	snprintf(path, sizeof(path), "%s/all.c", directory);
	assert_int_equal(binary__open(&binary, path, &error), -EINVAL);
}

/* Each source file may have its own type of a name, and values would lie elsewhere. */
static void test_ambiguous(void **state)
{
	static const char *const files[] = { "two", "two_btf" };
	struct types *types;
	struct type type;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		types = open_types(files[i]);
		assert_int_equal(types__find(types, "struct list", &type, &error), -ENOTUNIQ);
		assert_non_null(strstr(error.text, "different types 'struct list'"));
		assert_int_equal(types__find(types, "struct inner *", &type, &error), 0);
		assert_int_equal(types__find(types, "number", &type, &error), 0);
		assert_int_equal(types__find(types, "struct all", &type, &error), 0);
		types__close(types);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("DWARF leads to values, also to those of C11's _Atomic", test_dwarf),
		TEST("BTF leads to the same values", test_btf),
		TEST("an expression that is no value is refused with its reason", test_refused),
		TEST("a name of different types is refused", test_ambiguous),
		TEST("a file without types is refused", test_files),
		TEST("a function that only returns a variable tells its location", test_getters),
	};

	return cmocka_run_group_tests_name("application_types", tests, make_files, remove_files);
}
