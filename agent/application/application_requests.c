// SPDX-License-Identifier: GPL-2.0-only
/* The requests about applications, and their replies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/clock.h"
#include "agent/base/entry_name.h"
#include "agent/base/log.h"
#include "agent/region/selector.h"
#include "applications.h"
#include "host_process.h"

#define GATHER_DEFAULT "1s"

static json_t *describe_entries(const struct instance *instance)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < instance->entry_count; i++)
		reply__append(&list,
			      json_pack("{s:s, s:s}", "name", instance->names[i], "gathered_by",
					instance->are_gathered_by_module[i] ? "module" : "dartd"));
	return list;
}

static json_t *describe_instance(const struct instance *instance)
{
	const struct writer *writer = instance->writer;
	char build_id[2 * DART_APPLICATION_BUILD_ID_MAX + 1];

	dart_application_build_id__print(&instance->build_id, build_id);
	return json_pack("{s:s, s:I, s:s, s:s, s:o, s:I, s:I, s:I}", "label", instance->label,
			 "pid", (json_int_t)instance->process.pid, "executable",
			 dart_text__is_valid(instance->executable) ? instance->executable : "",
			 "build_id", build_id, "entries", describe_entries(instance), "unreadable",
			 (json_int_t)(writer ? writer__unreadable(writer) : 0), "missed",
			 (json_int_t)(writer ? writer__missed(writer) : 0), "fetched",
			 (json_int_t)instance->absence.fetches);
}

json_t *application__describe(const struct application *application)
{
	const char *kind = selection__kind(&application->program.selection);
	const char *why = application->why.text;
	char text[SELECTION_TEXT_MAX];
	const struct instance *instance;
	const struct examination *examination;
	json_t *instances = json_array();
	json_int_t held = 0;

	TAILQ_FOREACH(examination, &application->applications->examinations.started, link)
		held += examination->is_held &&
			examination->formats & 1u << application->program.format &&
			selection__matches(&application->program.selection, examination->pid);
	TAILQ_FOREACH(instance, &application->instances, link)
		reply__append(&instances, describe_instance(instance));
	selection__print(&application->program.selection, text);
	return json_pack("{s:s, s:s, s:s*, s:s*, s:I, s:b, s:o, s:I, s:s*, s:I}", "name",
			 application->group.name, "application", application->program.name,
			 "selector", kind, "selected", kind ? text : NULL, "gather_ms",
			 (json_int_t)application->gather_ms, "follow", application->follows,
			 "instances", instances, "held", held, "refused", *why ? why : NULL,
			 "age_s", (json_int_t)clock__age_s(application->group.registered));
}

int application_wish__unpack(struct request *request, struct application_wish *wish)
{
	const char *unit = NULL, *cgroup = NULL, *exe = NULL, *gather = GATHER_DEFAULT;
	const json_t *start = json_object_get(request->kept, "start");
	int follow = false;
	json_t *pid = NULL;
	int ret;

	*wish = (struct application_wish){ .start = json_integer_value(start) };
	ret = request__unpack(request, "{s:s, s?s, s?o, s?s, s?s, s?s, s?b !}", "name", &wish->name,
			      "unit", &unit, "pid", &pid, "cgroup", &cgroup, "exe", &exe, "gather",
			      &gather, "follow", &follow);
	wish->follows = follow;
	ret = ret									  ?:
		      entry_name__check(wish->name, &request->error)			  ?:
		      selector__parse_interval(gather, &wish->gather_ms, &request->error) ?:
		      selection__init(&wish->selection, unit, pid, cgroup, exe, &request->error);
	if (!ret && strpbrk(wish->name, "@+"))
		ret = dart_error__set(&request->error, EINVAL,
				      "the name of an application has no '@' and no '+': '%s'",
				      wish->name);
	if (!ret && wish->follows && wish->selection.kind == SELECTION_PID)
		ret = dart_error__set(
			&request->error, EINVAL,
			"one process cannot be followed (use dartctl application add)");
	return ret;
}

/* A number of a process is not kept beyond its end. */
static void keep_start(struct request *request, const struct application_wish *wish)
{
	uint64_t start;
	pid_t parent;

	if (wish->selection.kind == SELECTION_PID &&
	    host_process__origin(wish->selection.pid, &parent, &start))
		request__keep(request, json_pack("{s:I}", "start", (json_int_t)start));
}

static int add(struct request *request)
{
	struct application *application;
	struct application_wish wish;
	int ret;

	ret = application_wish__unpack(request, &wish);
	if (ret)
		return ret;
	ret = applications__add(request->subject, &wish, &application, &request->error);
	/* It started a moment ago. */
	request->is_early = ret == -EAGAIN;
	request->is_under_way = ret == -EINPROGRESS;
	if (ret)
		return ret;
	keep_start(request, &wish);
	log__info("%s application %s", wish.follows ? "following" : "added",
		  application->group.name);
	changes__announce(application->applications->changes, "added", "application",
			  application->group.name);
	request->result = application__describe(application);
	return 0;
}

static int list(struct request *request)
{
	const struct applications *applications = request->subject;
	const struct application *application;

	request->result = json_array();
	TAILQ_FOREACH(application, &applications->list, link)
		reply__append(&request->result, application__describe(application));
	return 0;
}

static int find(struct request *request, struct application **application)
{
	*application = applications__find(request->subject, request->text);
	return *application ?
		       0 :
		       dart_error__set(&request->error, ENOENT,
				       "there is no application '%s' (dartctl application list)",
				       request->text);
}

static int show(struct request *request)
{
	struct application *application;
	int ret = find(request, &application);

	if (!ret)
		request->result = application__describe(application);
	return ret;
}

static int remove_one(struct request *request)
{
	struct application *application;
	int ret = find(request, &application);

	if (ret)
		return ret;
	request->result = application__describe(application);
	return application__remove(application, &request->error);
}

const struct request_type application_requests[] = {
	{ "application-add", "application", add, .only_root = "add an application",
	  .keeps = "application" },
	{ "application-list", "applications", list, .member = "" },
	{ "application-show", "application", show, .member = "name" },
	{ "application-remove", "application", remove_one, .member = "name",
	  .only_root = "remove an application", .ends = "application" },
	{}
};
