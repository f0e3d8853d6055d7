// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lets go of devices that librdmacm keeps open: see cm_contexts.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/rdma/cm_contexts.h>

static bool have(const struct dart_cm_contexts *contexts, const struct dart_cm_context *wanted)
{
	const struct dart_cm_context *context;
	size_t i;

	for (i = 0; i < contexts->count; i++) {
		context = &contexts->list[i];
		if (context->verbs == wanted->verbs && context->command_fd == wanted->command_fd &&
		    !strcmp(context->node, wanted->node))
			return true;
	}
	return false;
}

void dart_cm_contexts__note(struct dart_cm_contexts *contexts, struct ibv_context *verbs)
{
	struct dart_cm_context context, *list;
	struct stat status;

	if (!verbs || !verbs->device)
		return;
	context = (struct dart_cm_context){
		.verbs = verbs,
		.command_fd = verbs->cmd_fd,
		.event_fd = verbs->async_fd,
	};
	memccpy(context.node, verbs->device->dev_name, '\0', sizeof(context.node) - 1);
	if (have(contexts, &context) || fstat(context.command_fd, &status))
		return;
	context.number = status.st_rdev;
	/* If memory is short, the removal of the device waits until the process ends. */
	list = reallocarray(contexts->list, contexts->count + 1, sizeof(*list));
	if (!list)
		return;
	contexts->list = list;
	list[contexts->count++] = context;
}

/* librdmacm closes the descriptors later, so they must stay valid: replace them by /dev/null. */
static void replace(const struct dart_cm_context *context)
{
	struct stat status;
	int null;

	/* librdmacm has closed them already. */
	if (fstat(context->command_fd, &status) || !S_ISCHR(status.st_mode) ||
	    status.st_rdev != context->number)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup3(null, context->event_fd, O_CLOEXEC);
	dup3(null, context->command_fd, O_CLOEXEC);
	close(null);
}

void dart_cm_contexts__let_go(struct dart_cm_contexts *contexts, const char *node)
{
	size_t i = 0;

	while (i < contexts->count) {
		if (strcmp(contexts->list[i].node, node)) {
			i++;
			continue;
		}
		replace(&contexts->list[i]);
		contexts->list[i] = contexts->list[--contexts->count];
	}
}

void dart_cm_contexts__close(struct dart_cm_contexts *contexts)
{
	free(contexts->list);
	*contexts = (struct dart_cm_contexts){ };
}
