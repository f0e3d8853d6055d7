// SPDX-License-Identifier: GPL-2.0-only
/* Layouts and descriptions of applications: files that are right, and files that are refused. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/application/description.h>
#include <libdart/application/layout.h>

#include "selftests/unit/unit.h"

#define MODULES "modules:\n  - {build_id: a50d}\n"
#define ENTRY "entries:\n  - name: app\n    fields:\n"
#define FIELD "      - {name: jobs, at: [0x1000], width: 8}\n"

static struct dart_error error;

static int load_layout(const char *text, struct dart_application_layout **layout)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	int ret;

	assert_non_null(file);
	ret = dart_application_layout__load(file, "f", layout, &error);
	fclose(file);
	return ret;
}

static void test_locations(void **state)
{
	static const char text[] = "description: one program\n"
				   "modules:\n"
				   "  - {build_id: 00ff}\n"
				   "  - {soname: libapp.so.1}\n"
				   "checks:\n"
				   "  - {at: [0x10, 8], module: 1, width: 4, equals: 0xfeedbeef}\n"
				   "entries:\n"
				   "  - name: app:rows\n"
				   "    rows: 3\n"
				   "    stride: 24\n"
				   "    fields:\n"
				   "      - {name: c, at: [0x1001], width: 1, kind: counter}\n"
				   "      - {name: g, at: [4096, 8, 12], width: 4, signed: true}\n"
				   "      - {name: t, at: [8, 1], width: 3, kind: text}\n"
				   "      - {name: a, at: [8], width: 8, count: 2, unit: bytes}\n";
	const struct dart_application_entry *entry;
	struct dart_application_layout *layout;

	if (load_layout(text, &layout))
		fail_msg("%s", error.text);
	assert_int_equal(layout->module_count, 2);
	assert_int_equal(layout->modules[0].build_id.length, 2);
	assert_int_equal(layout->modules[0].build_id.bytes[1], 0xff);
	assert_null(layout->modules[0].soname);
	assert_int_equal(layout->checks[0].equals, 0xfeedbeef);
	assert_int_equal(layout->checks[0].location.module, 1);
	entry = &layout->entries[0];
	assert_int_equal(entry->rows, 3);
	assert_int_equal(entry->stride, 24);
	assert_int_equal(entry->locations[1].address, 4096);
	assert_int_equal(entry->locations[1].steps, 2);
	assert_int_equal(entry->locations[1].offsets[1], 12);
	/* side by side: 1, 4 at 4, 3 at 8, 16 at 16 */
	assert_int_equal(entry->schema->fields[1].offset, 4);
	assert_int_equal(entry->schema->fields[2].offset, 8);
	assert_int_equal(entry->schema->fields[3].offset, 16);
	assert_int_equal(entry->schema->length, 32);
	assert_true(entry->schema->fields[1].is_signed);
	assert_string_equal(entry->schema->fields[3].unit, "bytes");
	dart_application_layout__free(layout);
}

static void test_layouts_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} files[] = {
		{ "# nothing\n", "f:1: the file is empty" },
		{ ENTRY FIELD, "f:1: the layout has no 'modules'" },
		{ MODULES, "f:1: the layout has no 'entries'" },
		{ "modules:\n  - {soname: libapp.so}\n" ENTRY FIELD,
		  "f:2: the first module is the executable, which has no soname" },
		{ MODULES "  - {build_id: 00}\n" ENTRY FIELD, "f:3: the module has no soname" },
		{ "modules:\n  - {build_id: 0x}\n" ENTRY FIELD, "f:2: '0x' is not a build-id" },
		{ "modules:\n  - {}\n" ENTRY FIELD,
		  "f:1: module 0 has no build_id, and no checks" },
		{ MODULES ENTRY "      - {name: jobs, at: [0x1004], width: 8}\n",
		  "f:6: field 'jobs' does not lie at a multiple of its width" },
		{ MODULES ENTRY "      - {name: jobs, at: [0x1004, 8], width: 8}\n",
		  "f:6: field 'jobs' follows a pointer that does not lie at a multiple of 8" },
		{ MODULES ENTRY "      - {name: jobs, at: [8, 8, 8, 8], width: 8}\n",
		  "f:6: more than 2 steps through pointers" },
		{ MODULES ENTRY "      - {name: jobs, at: [8], width: 3}\n",
		  "f:6: field 'jobs' has no width that its kind allows" },
		{ MODULES ENTRY "      - {name: jobs, width: 8}\n",
		  "f:6: field 'jobs' has no 'at'" },
		{ MODULES ENTRY "      - {name: jobs, at: [8], width: 8, count: 0}\n",
		  "f:6: field 'jobs' has no elements" },
		{ MODULES ENTRY "      - {name: jobs, at: [0xffffffffffffffff], width: 8}\n",
		  "f:6: expected a whole number up to 72057594037927935" },
		{ MODULES ENTRY "      - {name: jobs, at: [8], width: 8, module: 1}\n",
		  "f:1: a value lies in a module that is not listed" },
		{ MODULES ENTRY "      - {name: jobs, at: [8], width: 8, kind: histogram}\n",
		  "f:6: 'histogram' is not a kind" },
		{ MODULES ENTRY FIELD FIELD, "f:4: two fields are called 'jobs'" },
		{ MODULES "entries:\n  - name: app\n    rows: 2\n    fields:\n" FIELD,
		  "f:4: entry 'app' has only one of 'rows' above 1 and 'stride'" },
		{ MODULES
		  "entries:\n  - name: app\n    rows: 2\n    stride: 12\n    fields:\n" FIELD,
		  "f:4: field 'jobs' is wider than 'stride' allows" },
		{ MODULES "checks:\n  - {at: [8], width: 1, equals: 256}\n" ENTRY FIELD,
		  "f:4: 'equals' does not fit into 1 bytes" },
		{ MODULES ENTRY FIELD "  - name: app\n    fields:\n" FIELD,
		  "f:7: two entries are called 'app'" },
	};
	struct dart_application_layout *layout;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_int_equal(load_layout(files[i].text, &layout), -EINVAL);
		if (strncmp(error.text, files[i].message, strlen(files[i].message)))
			fail_msg("'%s' is not '%s...'", error.text, files[i].message);
	}
}

static void test_descriptions_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} files[] = {
		{ ENTRY "      - {name: a, value: b.c}\n",
		  "f:1: the description has no 'symbols'" },
		{ "symbols:\n  b: {type: int}\n", "f:1: the description has no 'entries'" },
		{ "symbols:\n  b: {}\n", "f:2: symbol 'b' has no type" },
		{ "symbols:\n  b: {type: int, getter: g, at: {00: 8}}\n",
		  "f:2: symbol 'b' has both 'getter' and 'at'" },
		{ "symbols:\n  b: {type: int, at: {zz: 8}}\n", "f:2: 'zz' is not a build-id" },
		{ "symbols:\n  b: {type: int}\n  b: {type: int}\n",
		  "f:3: two symbols are called 'b'" },
		{ ENTRY "      - {name: a}\n", "f:4: the field has no 'value'" },
		{ ENTRY "      - {name: a, value: b, width: 8}\n",
		  "f:4: only a text has a width of its own" },
		{ ENTRY "      - {name: a, value: b}\n      - {name: a, value: c}\n",
		  "f:5: two fields are called 'a'" },
		{ "entries:\n  - name: app\n    rows: {symbol: b}\n",
		  "f:3: rows have a 'symbol' and a 'count'" },
	};
	struct dart_description *description;
	FILE *file;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		file = fmemopen((void *)files[i].text, strlen(files[i].text), "r");
		assert_int_equal(dart_description__load(file, "f", &description, &error), -EINVAL);
		fclose(file);
		if (strncmp(error.text, files[i].message, strlen(files[i].message)))
			fail_msg("'%s' is not '%s...'", error.text, files[i].message);
	}
}

/* The layouts that are installed are of the builds that their names say. */
static void test_installed(void **state)
{
	static const char directory[] = "schemas/applications/layouts";
	char path[512], id[2 * DART_APPLICATION_BUILD_ID_MAX + 1];
	struct dart_application_layout *layout;
	struct dirent *entry;
	DIR *list = opendir(directory);
	unsigned int count = 0;
	FILE *file;

	assert_non_null(list);
	while ((entry = readdir(list))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		file = fopen(path, "r");
		assert_non_null(file);
		if (dart_application_layout__load(file, path, &layout, &error))
			fail_msg("%s", error.text);
		fclose(file);
		dart_application_build_id__print(&layout->modules[0].build_id, id);
		assert_int_equal(strncmp(entry->d_name, id, strlen(id)), 0);
		assert_string_equal(entry->d_name + strlen(id), ".yaml");
		dart_application_layout__free(layout);
		count++;
	}
	closedir(list);
	assert_true(count > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("a layout tells locations, and lays the fields of a copy side by side",
		     test_locations),
		TEST("a layout with a mistake is refused with its line", test_layouts_refused),
		TEST("a description with a mistake is refused with its line",
		     test_descriptions_refused),
		TEST("each layout that is installed is named by its build-id", test_installed),
	};

	return cmocka_run_group_tests_name("application_layout", tests, NULL, NULL);
}
