// SPDX-License-Identifier: GPL-2.0-only
/* libdartzero-preload reads layouts as libdart does, and refuses other files with their line. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/application/layout.h>

#include "selftests/unit/unit.h"
#include "tools/lib/zero/preload_layout.h"

static enum dart_control_field_kind kind_of(const struct dart_zero_field *field)
{
	switch (field->kind) {
	case DART_ZERO_KIND_COUNTER:
		return DART_CONTROL_FIELD_COUNTER;
	case DART_ZERO_KIND_TEXT:
		return DART_CONTROL_FIELD_TEXT;
	default:
		return DART_CONTROL_FIELD_GAUGE;
	}
}

static void compare_field(const struct preload_field *field,
			  const struct dart_application_entry *entry)
{
	const struct dart_field *wanted = dart_schema__find(entry->schema, field->shown.name);
	const struct dart_application_location *location;

	if (!wanted)
		fail_msg("%s is a field of one reader only", field->shown.name);
	location = &entry->locations[wanted - entry->schema->fields];
	assert_int_equal(field->address, location->address);
	assert_int_equal(field->module, location->module);
	assert_int_equal(field->is_pointed_to, location->steps > 0);
	assert_int_equal(field->shown.width, wanted->width);
	assert_int_equal(field->shown.count, wanted->count);
	assert_int_equal(kind_of(&field->shown), wanted->kind);
	assert_int_equal(field->shown.is_signed, wanted->is_signed);
	assert_string_equal(field->shown.unit, wanted->unit);
}

static void compare(const struct preload_layout *layout,
		    const struct dart_application_layout *wanted)
{
	char id[2 * DART_APPLICATION_BUILD_ID_MAX + 1];
	uint32_t i, j;

	assert_int_equal(layout->module_count, wanted->module_count);
	for (i = 0; i < layout->module_count; i++) {
		dart_application_build_id__print(&wanted->modules[i].build_id, id);
		assert_string_equal(layout->modules[i].build_id, id);
		assert_int_equal(!layout->modules[i].soname, !wanted->modules[i].soname);
		if (layout->modules[i].soname)
			assert_string_equal(layout->modules[i].soname, wanted->modules[i].soname);
	}
	assert_int_equal(layout->entry_count, wanted->entry_count);
	for (i = 0; i < layout->entry_count; i++) {
		assert_string_equal(layout->entries[i].name, wanted->entries[i].schema->name);
		assert_int_equal(layout->entries[i].has_rows, wanted->entries[i].rows > 1);
		assert_int_equal(layout->entries[i].field_count,
				 wanted->entries[i].schema->field_count);
		for (j = 0; j < layout->entries[i].field_count; j++)
			compare_field(&layout->entries[i].fields[j], &wanted->entries[i]);
	}
}

static void read_both(const char *path)
{
	struct dart_application_layout *wanted;
	char reason[PRELOAD_REASON_MAX];
	struct preload_layout layout;
	struct dart_error error;
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	if (dart_application_layout__load(file, path, &wanted, &error))
		fail_msg("%s", error.text);
	if (preload_layout__read(path, &layout, reason))
		fail_msg("%s", reason);
	compare(&layout, wanted);
	preload_layout__free(&layout);
	dart_application_layout__free(wanted);
	fclose(file);
}

static void test_shipped(void **state)
{
	static const char directory[] = "schemas/applications/layouts";
	DIR *stream = opendir(directory);
	const struct dirent *file;
	char path[300];
	int count = 0;

	assert_non_null(stream);
	while ((file = readdir(stream))) {
		if (*file->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, file->d_name);
		read_both(path);
		count++;
	}
	closedir(stream);
	assert_true(count > 8);
}

/* The name of a file with @text, until the next call. */
static const char *file_of(const char *text)
{
	static char path[] = "/tmp/preload_layouts_XXXXXX";
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

#define BEGIN                                                        \
	"# A comment.\n"                                             \
	"description: 'it''s one'\n"                                 \
	"modules:\n"                                                 \
	"  - {build_id: '0123'}\n"                                   \
	"  - {soname: 'lib.so.1', build_id: '4567'}\n"               \
	"entries:\n"                                                 \
	"  - name: 'a:b'\n"                                          \
	"    fields:\n"                                              \
	"      - {name: one, at: [0x10], width: 8, kind: counter}\n" \
	"      - {name: two, at: [32], width: 2, count: 3, module: 1, signed: true, unit: 'it''s, {ms}'}\n"

static void test_forms(void **state)
{
	const char *path = file_of(BEGIN);
	char reason[PRELOAD_REASON_MAX];
	struct preload_layout layout;

	read_both(path);
	assert_int_equal(preload_layout__read(path, &layout, reason), 0);
	unlink(path);
	assert_string_equal(layout.entries[0].fields[1].shown.unit, "it's, {ms}");
	preload_layout__free(&layout);
	assert_int_equal(preload_layout__read(path, &layout, reason), -ENOENT);
}

static void test_refused(void **state)
{
	static const char *const lines[] = {
		"      - {name: x, at: [0x10], width: 8, kind: counter",
		"      - {name: x, at: [0x10, width: 8, kind: counter}",
		"      - {name: x, at: [0x10], width: 8, kind: counter} x",
		"      - {name: x, at: 0x10, width: 8, kind: counter}",
		"      - {name: x, at: [], width: 8, kind: counter}",
		"      - {name: x, at: [0x], width: 8, kind: counter}",
		"      - {name: x, at: [-1], width: 8, kind: counter}",
		"      - {name: x, at: [0x10000000000000000], width: 8, kind: counter}",
		"      - {name: x, at: [0], width: 8, kind: counter}",
		"      - {name: x, at: [16], width: 3, kind: counter}",
		"      - {name: x, at: [16], width: 8, count: 0, kind: counter}",
		"      - {name: x, at: [16], width: 8, count: 1025, kind: counter}",
		"      - {name: x, at: [16], width: 8, kind: sequence}",
		"      - {name: x, at: [16], width: 8, kind: }",
		"      - {name: x, at: [16], width: 8, kind: counter, module: 2}",
		"      - {name: x, at: [16], width: 8, kind: counter, color: red}",
		"      - {name: 'x, at: [16], width: 8, kind: counter}",
		"      - {name: \"\\x41\", at: [16], width: 8, kind: counter}",
		"      - {name}",
		"      - {",
		"      -",
		"      name: x",
		"    color: red",
		"  - color: red",
		"  - name: ''",
		"  - name: 'x",
		"  - name: ",
		"\tx",
		"color: red",
		"x",
	};
	char text[1000], reason[PRELOAD_REASON_MAX];
	struct preload_layout layout;
	const char *path;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text), "%s%s\n", BEGIN, lines[i]);
		path = file_of(text);
		if (!preload_layout__read(path, &layout, reason))
			fail_msg("it takes '%s'", lines[i]);
		if (!strstr(reason, "line 11 of /tmp/"))
			fail_msg("'%s' is refused so: %s", lines[i], reason);
		unlink(path);
	}
	assert_int_equal(preload_layout__read("/tmp", &layout, reason), -EFBIG);
}

/* All beginnings of a file are refused, or read, without a byte beyond them. */
static void test_cut(void **state)
{
	char text[] = BEGIN, reason[PRELOAD_REASON_MAX];
	struct preload_layout layout;
	const char *path;

	for (size_t i = strlen(text); i--;) {
		text[i] = '\0';
		path = file_of(text);
		if (!preload_layout__read(path, &layout, reason))
			preload_layout__free(&layout);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the layouts of all builds are what libdart reads", test_shipped),
		TEST("quoted texts, numbers, modules and arrays are read", test_forms),
		TEST("other lines are refused, with their number", test_refused),
		TEST("files that were cut off are read or refused", test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
