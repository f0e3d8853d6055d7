// SPDX-License-Identifier: GPL-2.0-only
/* The requests about sketches and their sketchers. */
#include <errno.h>

#include "agent/base/log.h"
#include "agent/rdma/remote_requests.h"
#include "agent/rdma/report_kept.h"
#include "agent/rdma/report_parts.h"
#include "sketch.h"

/* The members of a geometry, hostile. */
struct members {
	const char *kind;
	json_int_t columns_log2, rows, period, parts;
};

static bool is_in(json_int_t number, json_int_t least, json_int_t most)
{
	return number >= least && number <= most;
}

static int make_geometry(const struct members *members, struct dart_sketch_geometry *geometry,
			 struct dart_error *error)
{
	const int kind = dart_sketch_kind__find(members->kind);

	if (kind < 0)
		return dart_error__set(error, EINVAL,
				       "a sketch is of kind 'count-min' or 'count-sketch'");
	if (!is_in(members->columns_log2, DART_SKETCH_COLUMNS_LOG2_MIN,
		   DART_SKETCH_COLUMNS_LOG2_MAX))
		return dart_error__set(error, EINVAL, "a sketch has 2^%d to 2^%d columns",
				       DART_SKETCH_COLUMNS_LOG2_MIN, DART_SKETCH_COLUMNS_LOG2_MAX);
	if (!is_in(members->rows, 1, DART_SKETCH_ROWS_MAX))
		return dart_error__set(error, EINVAL, "a sketch has 1 to %d rows",
				       DART_SKETCH_ROWS_MAX);
	if (!is_in(members->period, 1, DART_SKETCH_PERIOD_MAX))
		return dart_error__set(error, EINVAL, "a period has 1 to %d seconds",
				       DART_SKETCH_PERIOD_MAX);
	if (!is_in(members->parts, 1, DART_SKETCH_PARTS_MAX))
		return dart_error__set(error, EINVAL, "a sketch has 1 to %d parts",
				       DART_SKETCH_PARTS_MAX);
	*geometry = (struct dart_sketch_geometry){
		.parts = members->parts,
		.kind = kind,
		.rows = members->rows,
		.columns_log2 = members->columns_log2,
		.period = members->period,
	};
	return 0;
}

static int create_sketch(struct request *request)
{
	struct members members = {
		.kind = dart_sketch_kind__name(DART_SKETCH_COUNT_MIN),
		.rows = DART_SKETCH_ROWS,
		.period = DART_SKETCH_PERIOD,
		.parts = DART_SKETCH_PARTS,
	};
	struct remote_origin origin = { .fd = request->fd };
	struct dart_sketch_geometry geometry;
	struct sketch *sketch;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s:I, s?s, s?I, s?I, s?I, s?s !}", "name", &name,
			      "columns_log2", &members.columns_log2, "kind", &members.kind, "rows",
			      &members.rows, "period", &members.period, "parts", &members.parts,
			      "file", &origin.file);
	if (!ret && !origin.file != (request->fd < 0))
		ret = dart_error__set(&request->error, EINVAL,
				      "a file has a name and a descriptor");
	ret = ret ?: make_geometry(&members, &geometry, &request->error);
	if (ret)
		return ret;
	report_kept__read_object(request->kept, SKETCH_NOUN, name, &origin);
	ret = sketches__create(request->subject, name, &geometry, &origin, &sketch,
			       &request->error);
	if (ret)
		return ret;
	remote_requests__tell_created(request, &sketch->object, &origin,
				      report_kept__object(sketch->epoch, sketch->object.read.base));
	return 0;
}

static int add_sketcher(struct request *request)
{
	struct report_qp_origin origin;
	struct report_qp *sketcher;
	struct sketch *sketch;
	struct named_peer named;
	json_t *kept;
	int ret = remote_requests__find_no_peer(request, &named);

	if (ret)
		return ret;
	sketch = (struct sketch *)named.object;
	report_kept__read_reporter(request->kept, "sketcher", named.text, &origin);
	ret = sketches__add_sketcher(request->subject, sketch, named.address,
				     report_parts__kept(request->kept, DART_SKETCH_PARTS_MAX),
				     &origin, &sketcher, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s counts for sketch %s", named.text, named.object->name);
	kept = report_kept__reporter(sketcher->first_psn, sketcher->view.base);
	report_parts__keep(kept, sketch__part(sketch, sketcher));
	request__keep(request, kept);
	named.peer = &sketcher->peer;
	remote_requests__tell_peer(request, &named);
	return 0;
}

static int remove_sketcher(struct request *request)
{
	struct named_peer named;
	int ret = remote_requests__find_peer(request, &named);

	if (ret)
		return ret;
	remote_requests__tell_peer(request, &named);
	log__info("%s no longer counts for sketch %s", named.text, named.object->name);
	remote_objects__remove_peer(request->subject, named.object, named.peer);
	return 0;
}

const struct request_type sketches_requests[] = {
	{ "sketch-create", "sketch", create_sketch, .only_root = "create a sketch",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "sketch" },
	{ "sketch-delete", "sketch", remote_requests__delete, .member = "name",
	  .only_root = "delete a sketch", .ends = "sketch" },
	{ "sketch-list", "sketches", remote_requests__list, .member = "" },
	{ "sketch-open", "sketch", remote_requests__open, .member = "name" },
	{ "sketch-export", "sketches", remote_requests__export, .member = "name",
	  .only_root = "see what sketchers have to know" },
	{ "sketcher-add", "sketcher", add_sketcher, .only_root = "add a sketcher",
	  .keeps = "sketcher" },
	{ "sketcher-remove", "sketcher", remove_sketcher, .only_root = "remove a sketcher",
	  .ends = "sketcher" },
	{ "sketcher-list", "sketchers", remote_requests__list_peers, .member = NULL },
	{}
};
