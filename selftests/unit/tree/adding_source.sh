#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Documentation/adding/source.md can be followed: its example builds in a copy of the tree and
# changes few files.  The parts of all sources are where the page says, and the check of that
# can fail.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
page=$tree/Documentation/adding/source.md
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$tree" && tar --exclude=./.git --exclude=./.output -cf - .) | tar -xf - -C "$copy"

check "the parts of all sources are where the page says" "$tests/sources"
check "a copy of the tree passes as well" "$copy/selftests/sources"

# planted FILE SCRIPT SENTENCE MESSAGE: a fault in one file of the copy is found
planted() {
	cp "$copy/$1" "$copy/kept"
	sed -i "$2" "$copy/$1"
	refuse "$3" "$4" "$copy/selftests/sources"
	cp "$copy/kept" "$copy/$1"
}

mv "$copy/bpf/samples/swap.bpf.c" "$copy/bpf/samples/swaps.bpf.c"
refuse "a program that is missing is found" \
	"^bpf/samples/swap.bpf.c: takes no sample of DART_ZERO_SOURCE_SWAP" "$copy/selftests/sources"
refuse "a program without a sample is found" "^bpf/samples/swaps.bpf.c: no sample" \
	"$copy/selftests/sources"
mv "$copy/bpf/samples/swaps.bpf.c" "$copy/bpf/samples/swap.bpf.c"
planted kmod/samplers/load.c s/dart_zero_load/dart_zero_loads/ \
	"a sampler that fills another struct is found" \
	"^kmod/samplers/load.c: does not fill struct dart_zero_load"
planted kmod/samplers/sampler.c s/SOURCE_PERF/SOURCE_LOAD/ \
	"a sample that the module does not open is found" \
	"does not open DART_ZERO_SOURCE_PERF"
planted kmod/windows/window.c s/SOURCE_KSTAT/SOURCE_VMSTAT/ \
	"a window that the module does not open is found" "does not open DART_ZERO_SOURCE_KSTAT"
planted uapi/linux/dart_zero_samples.def 's/SOURCE_SWAP, 154/SOURCE_SWAP, 153/' \
	"a number of two samples is found" "the number 153 is there twice"
planted Documentation/sources.md 's/`swap`/swap/' \
	"a source without documentation is found" "^Documentation/sources.md: has no row of swap"

check "each step of the page can be taken" sh -c '"$0" "$1" "$2" >"$2/changed"' \
	"$tests/lib/page_blocks.py" "$page" "$copy"
product=$(sort -u "$copy/changed" | grep -v -e '^selftests/' -e '^Documentation/')
echo "$product" | sed 's/^/# /'
check "they change a file of the product, and three at most" \
	grep -q -x '[123]' <<EOF
$(echo "$product" | grep -c .)
EOF
check "the new source has all parts" "$copy/selftests/sources"
planted selftests/lib/kernel_values.py 's/put("aio"/put("aios"/' \
	"a source whose values no test compares is found" "no test compares values of aio"
check "the names of metrics fit" "$copy/selftests/prometheus_names"
check "the test of all values can be read" python3 -c \
	'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$copy/selftests/lib/kernel_values.py"
refuse "no step can be taken twice" "exists already" \
	"$tests/lib/page_blocks.py" "$page" "$copy"

cat >"$copy/schema.c" <<'EOF'
#include <stdio.h>

#include "agent/region/source.h"

int main(int argc, char *argv[])
{
	const struct source *source = source__find(argv[1]);
	const struct dart_field *field;

	if (!source)
		return 1;
	printf("%d %s\n", source->id, source->description);
	for (field = source->fields(); field->name; field++)
		printf("%s %s %u %u\n", field->name, field->unit, field->offset,
		       field->width);
	return 0;
}
EOF
check "the table of the agent compiles" "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -I "$copy" \
	-I "$copy/uapi" -I "$copy/tools/lib/include" -o "$copy/schema" "$copy/schema.c" \
	"$copy/agent/region/source.c"
check "and has the fields of the page" [ "$("$copy/schema" aio)" = \
	"175 asynchronous requests that processes reserved
reserved requests 0 8
limit requests 8 8" ]

# built: the eBPF programs of the copy, and the object of the agent that contains them.  The
# other programs keep their times, so that only the new one is compiled.
built() {
	make -s -C "$copy" KDIR= -o .output/bpf/vmlinux.h .output/bpf/samples.skel.h \
		.output/obj/agent/region/sample_programs.o
}

if [ -e "$tree/.output/bpf/samples.skel.h" ]; then
	mkdir "$copy/.output"
	cp -a "$tree/.output/bpf" "$tree/.output/config.mk" "$copy/.output"
	check "the program compiles, and the build finds it" built
	check "the agent contains it" grep -q aio_bpf__elf_bytes "$copy/.output/bpf/samples/aio.skel.h"
	mv "$copy/bpf/samples/aio.bpf.c" "$copy/bpf/samples/aios.bpf.c"
	rm -f "$copy/.output/bpf/samples/aio."* "$copy/.output/obj/agent/region/sample_programs.o"
	refuse "a program that is called otherwise is missed" "aio_bpf__elf_bytes" built
else
	echo "# the eBPF programs are not built: no program is added"
fi
finish
