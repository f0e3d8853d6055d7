// SPDX-License-Identifier: GPL-2.0-only
/* Kinds of files for a switch, see push_kind.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include <libdart/text_file.h>

#include "push_kind.h"
#include "tools/dartctl/cli/message.h"
#include "tools/watch/path_watch.h"

/* Pipes and the like can be read only once. */
static bool is_regular(FILE *file)
{
	struct stat status;

	return !fstat(fileno(file), &status) && S_ISREG(status.st_mode);
}

int push_kind__read(const char *path, enum push_kind *kind, struct dart_error *error)
{
	json_error_t json_error;
	json_t *root;
	FILE *file;

	file = fopen(path, "re");
	if (!file)
		return dart_error__system(error, errno, "cannot open %s", path);
	*kind = PUSH_COLLECTORS;
	if (!is_regular(file)) {
		fclose(file);
		return 0;
	}
	dart_text_file__pass_mark(file);
	root = json_loadf(file, 0, &json_error);
	fclose(file);
	if (!root)
		return dart_error__set(error, EINVAL, "%s:%d: not JSON: %s",
				       path, json_error.line, json_error.text);
	if (json_object_get(root, "tables"))
		*kind = PUSH_TABLES;
	else if (json_object_get(root, "ledgers"))
		*kind = PUSH_LEDGER;
	else if (json_object_get(root, "journals"))
		*kind = PUSH_JOURNAL;
	else if (json_object_get(root, "sketches"))
		*kind = PUSH_SKETCH;
	json_decref(root);
	return 0;
}

int push_kind__wait(const char *name, const char *const *files, size_t count,
		    enum push_kind *kind, struct dart_error *error)
{
	struct dart_error said = { .text = "" };
	struct path_watch watch;
	int ret;

	ret = path_watch__open(&watch, files, count, error);
	if (ret)
		return ret;
	for (;;) {
		ret = path_watch__arm(&watch, error);
		if (ret || !push_kind__read(files[0], kind, error))
			break;
		if (strcmp(said.text, error->text)) {
			said = *error;
			fail(EAGAIN, "'%s' waits: %s", name, error->text);
			fflush(stdout);
		}
		path_watch__wait(&watch, -1, -1);
	}
	path_watch__close(&watch);
	return ret;
}
