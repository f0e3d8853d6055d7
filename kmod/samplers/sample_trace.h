/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writable raw tracepoint "dart_zero_sample": eBPF programs fill in a sample. See
 * struct dart_zero_sample.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dart_zero

#if !defined(DART_ZERO_SAMPLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DART_ZERO_SAMPLE_TRACE_H

#include <linux/tracepoint.h>

#include <linux/dart_zero_samples.h>

struct cgroup;

DECLARE_EVENT_CLASS(dart_zero_sample,

	TP_PROTO(struct dart_zero_sample *sample, struct cgroup *cgroup),

	TP_ARGS(sample, cgroup),

		    TP_STRUCT__entry(__field(u32, source)),

		    TP_fast_assign(__entry->source = sample->source;),

		    TP_printk("source %u", __entry->source));

/* Some passes over this header do not know writable events. */
#ifdef DEFINE_EVENT_WRITABLE
#undef DART_DEFINE_EVENT
#define DART_DEFINE_EVENT(template, call, proto, args, size)		\
	DEFINE_EVENT_WRITABLE(template, call, PARAMS(proto),		\
			      PARAMS(args), size)
#else
#undef DART_DEFINE_EVENT
#define DART_DEFINE_EVENT(template, call, proto, args, size)		\
	DEFINE_EVENT(template, call, PARAMS(proto), PARAMS(args))
#endif

DART_DEFINE_EVENT(dart_zero_sample, dart_zero_sample,

	TP_PROTO(struct dart_zero_sample *sample, struct cgroup *cgroup),

	TP_ARGS(sample, cgroup),

		  sizeof(struct dart_zero_sample));

#endif /* DART_ZERO_SAMPLE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE sample_trace
#include <trace/define_trace.h>
