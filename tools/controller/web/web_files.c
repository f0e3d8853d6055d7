// SPDX-License-Identifier: GPL-2.0-only
/*
 * The assembler includes the files of the page, so no program of the build turns them into C.
 * build.mk lists the objects to make again when one of the files changes.
 */
#include "web_files.h"

/* Defines NAME_begin and NAME_end. */
#define INCLUDE_FILE(name, file)                                   \
	__asm__(".pushsection .rodata\n"                           \
		"web_" #name "_begin:\n"                           \
		".incbin \"tools/controller/web/page/" file "\"\n" \
		"web_" #name "_end:\n"                             \
		".popsection\n");                                  \
	extern const char web_##name##_begin[], web_##name##_end[]

INCLUDE_FILE(index, "index.html");
INCLUDE_FILE(style, "style.css");
INCLUDE_FILE(icon, "icon.svg");
INCLUDE_FILE(main, "main.js");
INCLUDE_FILE(server, "server.js");
INCLUDE_FILE(format, "format.js");
INCLUDE_FILE(elements, "elements.js");
INCLUDE_FILE(overview, "overview.js");
INCLUDE_FILE(host, "host.js");
INCLUDE_FILE(samples, "samples.js");
INCLUDE_FILE(stats, "stats.js");
INCLUDE_FILE(time_view, "time_view.js");
INCLUDE_FILE(panels, "panels.js");
INCLUDE_FILE(axis, "axis.js");
INCLUDE_FILE(plot, "plot.js");
INCLUDE_FILE(heatmap, "heatmap.js");
INCLUDE_FILE(series, "series.js");
INCLUDE_FILE(stores, "stores.js");
INCLUDE_FILE(containers, "containers.js");
INCLUDE_FILE(movers, "movers.js");

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define JAVASCRIPT "text/javascript; charset=utf-8"
#define SVG "image/svg+xml"
#define FILE_AT(path, type, name)                                \
	{                                                        \
		path, type, web_##name##_begin, web_##name##_end \
	}

const struct web_file web_files[] = {
	FILE_AT("/", HTML, index),
	FILE_AT("/style.css", CSS, style),
	FILE_AT("/icon.svg", SVG, icon),
	FILE_AT("/main.js", JAVASCRIPT, main),
	FILE_AT("/server.js", JAVASCRIPT, server),
	FILE_AT("/format.js", JAVASCRIPT, format),
	FILE_AT("/elements.js", JAVASCRIPT, elements),
	FILE_AT("/overview.js", JAVASCRIPT, overview),
	FILE_AT("/host.js", JAVASCRIPT, host),
	FILE_AT("/samples.js", JAVASCRIPT, samples),
	FILE_AT("/stats.js", JAVASCRIPT, stats),
	FILE_AT("/time_view.js", JAVASCRIPT, time_view),
	FILE_AT("/panels.js", JAVASCRIPT, panels),
	FILE_AT("/axis.js", JAVASCRIPT, axis),
	FILE_AT("/plot.js", JAVASCRIPT, plot),
	FILE_AT("/heatmap.js", JAVASCRIPT, heatmap),
	FILE_AT("/series.js", JAVASCRIPT, series),
	FILE_AT("/stores.js", JAVASCRIPT, stores),
	FILE_AT("/containers.js", JAVASCRIPT, containers),
	FILE_AT("/movers.js", JAVASCRIPT, movers),
};
const size_t web_file_count = sizeof(web_files) / sizeof(web_files[0]);
