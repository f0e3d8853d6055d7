// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a thread reads of a process, which decides how long that takes: see examination.h.
 */
#include <unistd.h>

#include "examination.h"
#include "host_process.h"

/* Does the parent of a process execute this build? */
static bool has_build(pid_t parent, const struct dart_application_build_id *id)
{
	const int pidfd = parent > 1 ? host_process__open(parent) : -1;
	struct dart_application_build_id of_parent;
	struct dart_error ignored;
	bool is_copy;

	if (pidfd < 0)
		return false;
	is_copy = !application_process__build_id(pidfd, &of_parent, NULL, &ignored) &&
		  dart_application_build_id__equals(&of_parent, id);
	close(pidfd);
	return is_copy;
}

/* Of a process that may become an instance: most programs that start do not. */
static void compare_with_parent(struct examination *examination)
{
	if (!host_process__origin(examination->pid, &examination->parent, &examination->start))
		examination->parent = 0;
	/* As a server's child that writes a snapshot. */
	examination->is_copy_of_parent =
		!examination->build_ret && has_build(examination->parent, &examination->build_id);
}

void examination__read(struct examination *examination)
{
	bool is_found = false;
	enum application_format format;

	if (examination->former.memory >= 0)
		examination->lives = application_process__has_program(&examination->former);
	for (format = APPLICATION_FORMAT_ANY + 1; format < APPLICATION_FORMATS; format++) {
		if (!(examination->formats & 1u << format))
			continue;
		finding__describe(&examination->findings[format], examination->pidfd, format);
		is_found |= !examination->findings[format].ret;
	}
	if (is_found || examination->formats & 1u << APPLICATION_FORMAT_ANY)
		examination->build_ret = application_process__build_id(
			examination->pidfd, &examination->build_id, &examination->file,
			&examination->build_why);
	if (is_found)
		compare_with_parent(examination);
}

void examination__attach(struct examination *examination)
{
	compare_with_parent(examination);
	finding__attach(&examination->findings[APPLICATION_FORMAT_ANY], examination->pidfd,
			examination->layout);
}
