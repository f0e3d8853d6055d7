# SPDX-License-Identifier: GPL-2.0-only
#
# One non-recursive build. The build.mk of each room lists its parts:
#
#   programs += NAME            .output/bin/NAME, from
#   NAME_sources := ...           these C files,
#   NAME_libraries := ...         the project's own libraries,
#   NAME_packages := ...          libraries that pkg-config and configure know,
#   NAME_skeletons := X           bpf/X.bpf.c, as "X.skel.h"
#   libraries += NAME           .output/lib/libNAME.a, from NAME_sources
#   NAME_abi := N                 .output/lib/libNAME.so.N as well, which exports
#   NAME_map := FILE              what this version script says
#   texts += .output/texts/NAME   a manual page or a completion, see tools/texts
#
# selftests/tests.mk says how tests are built, selftests/targets.mk how they run, and install.mk
# which file goes where.

version := 0.1
KVER ?= 6.12

# Another architecture has an output of its own, whose root contains its libraries.
foreign := $(filter-out $(shell dpkg --print-architecture 2> /dev/null),$(filter arm64,$(ARCH)))
output := .output$(foreign:%=/%)
ifneq ($(foreign),)
triplet := aarch64-linux-gnu
root := $(abspath $(output))/root
export ARCH
endif
guest_kernel := $(output)/kernel/$(KVER)

ifneq ($(V),1)
quiet := @
say = @printf '  %-8s%s\n' $(1) $(2);
endif

default: all
.PHONY: default
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

define help
  make                  programs, eBPF objects and the module
  make demo             a controller reads a host, a switch reports to a store,
                        a table of a million flows is looked up; at last Chromium
                        shows them in the page: .output/demo/page.png;
                        P4=1: a P4 switch reports, another one does NAT by that
                        table, and NAT of new flows with dart-flows
                        (run as root on a fresh Debian: installs its packages)
  make check            all tests; TESTS="unit pair/foo" picks some
  make check-debug      the tests of the kernel parts in a kernel with KASAN,
                        lockdep, kmemleak and more (builds it, once: 15 min)
  make check-kernels    tests of sources, and of the families of metrics that a host has, on
                        each kernel of selftests/families, with the module and without it;
                        prints a table of the sources
  make check-long       tests that take minutes each, between two virtual machines
  make check-p4         tests of the P4 programs, with 100,000 forged responses from each port
  make check-churn      containers come and go for a minute while they are read
  make check-packaged   tests of the agent with the installed service, in its sandbox
  make check-crashes    dartd is killed 200 times (30 min)
  make check-dart       reports cross 100 rotations of a store, and dartd is killed 200 times
                        while it writes epochs; a million entries reach a journal, a
                        million amounts a ledger and a million counts a sketch, with
                        lost, late and double frames
  make check-farm       a controller scrapes 1,024 hosts, with each kind of I/O
  make check-siw        a controller reads a host over soft-iWARP, whose module is built
                        from Debian's source of the guest's kernel
  make check-power      a machine is killed three times while its controller spools
  make check-refusals   eBPF programs are refused in eight ways
  make check-receivers  Prometheus, VictoriaMetrics and InfluxDB get metrics, are
                        killed meanwhile, and are asked for all (10 min);
                        PROMETHEUS3=PATH adds one that takes remote write 2.0
  make check-fleet      the same receivers get the samples of 1,000 invented hosts for
                        10 minutes, every fifth of which is wrong in some way, and
                        are asked for all
  make check-controllers three controllers share 300 hosts out by ZooKeeper, while they,
                        its servers and the receiver are killed, stopped and cut off in
                        DART_SCHEDULES=20 random schedules (75 min), after 10,000 in
                        virtual time (10 min)
  make check-relabel    500 lists of rules on 1,000 series each, compared with the results of a
                        Prometheus that has the same rules
  make check-threads    the threaded unit tests with ThreadSanitizer, and under helgrind
  make check-documented the commands in README.md, Documentation/install and the
                        EXAMPLES of manual pages
  make check-page       the page of the controller in Chromium; PICTURES=DIR keeps
                        screenshots
  make fuzz             libFuzzer gives all parsers of foreign bytes random ones,
                        each for TIME seconds (60), two at a time
  make bench            measurements beside bare verbs, perftest, node-exporter;
                        cost of the probes; 40 containers; gathering beside open
                        files; the threads of the controller; its outputs; READs
                        beside calls; stores and reports beside memory; the load
                        of lookup tables; the figures of the DART paper: 40 minutes
  make bench-long       hours: latencies of containers and transports; redis-servers
                        beside INFO, with figure 7 of the ZERO paper; a host of 64
                        CPUs; wake-ups of an idle host; cgroups that have ended;
                        slow readers; what remote write sends; reports over a link with
                        losses; the figures of the TEA paper in simple_switch
  make p4               the programs of P4 switches, if a P4 compiler is installed
  make module           dart_zero.ko only
  make install          everything, for the running kernel or for KDIR
  make programs_install everything but the module, as a controller needs
  make modules_install  the module only
  make packages         install the Debian packages of packages.txt, or only
                        those of sections="build run"
  make deb              Debian packages of this version, in .output/deb
  make repository KEY=KEY an apt repository of them in .output/repository, signed by a
                        key of gpg; it keeps the packages that lie there
  make check-deb        they are installed, upgraded, removed and purged in a machine
                        made by debootstrap, as root (20 min without KVM)
  make lint             rooms, shellcheck, W=1, sparse; with KSRC=DIR, a kernel's
                        source, checkpatch and coccicheck as well
  make clean            remove .output except what was fetched, and .output/arm64
  make distclean        remove all of .output

  V=1                   show the commands
  KVER=6.12             the stock Debian kernel of the guests, fetched on demand
  ARCH=arm64            cross-compile, into .output/arm64; make check runs the groups
                        module, agent and pair in emulated guests of it, make deb
                        builds its packages; KVER=6.12-16k: pages of 16 KiB
  KDIR=DIR              build the module for the kernel with this build directory
                        (default: the running kernel's, or else the guests')
  DESTDIR= PREFIX=      where to install (/usr/local)
endef

help:
	@: $(info $(help))

clean:
	rm -rf $(filter-out $(addprefix $(output)/,arm64 kernel root root.made root.shlibs),\
		$(wildcard $(output)/*))

distclean:
	rm -rf $(output)

# The targets that a newcomer types first install the packages, then build.
sections := build run test bench lint
ifneq ($(foreign),)
packages: sections += cross
endif
demo bench bench-long: sections := build run test
bench bench-long: sections += bench
deb: sections := build deb
repository: sections := build deb repository

# Its end is left out where there is no Chromium.
demo: $(if $(P4),p4_is_there) packages
	+$(quiet)[ "$$(id -u)" != 0 ] || \
		$(MAKE) --no-print-directory packages sections=page || \
		echo "make: chromium cannot be installed: the demonstration ends without the page" >&2
	+$(quiet)$(build) KDIR= guest $(if $(P4),p4)
	$(quiet)selftests/demo/run $(if $(P4),p4)

p4_is_there:
	$(quiet)! why=$$(selftests/p4_missing) || { echo "make: $$why" >&2; exit 1; }

# Benches, and after ":" the word that one is called with.  What other programs of the machine do
# changes no counted instructions, so two of these run at a time; a bench by the clock runs alone.
# The rest takes longer than anybody waits, or needs a machine that does nothing else.
benches_counted := $(addprefix tools/bench/,runs containers transports preload ways objects \
	gathering probes first_values outputs:relabelling)
benches_timed := $(addprefix tools/bench/,run store tea_load tea_import scrapes outputs \
	xdp_reporter xdp_primitives writes) papers/simulate papers/zero/scale
benches_long := $(addprefix tools/bench/,containers:latency transports:latency applications \
	whole_host idle cgroups growth readers senders reliable) papers/tea/tea_figures

bench bench-long: packages
	+$(quiet)$(build) KDIR= guest $(output)/lib/libdartzero-preload.so \
		$(if $(shell command -v p4c-bm2-ss),p4)
	$(quiet)status=0; \
	$(if $(filter bench,$@),tools/bench/each 2 $(benches_counted) || status=1; \
		tools/bench/each 1 $(benches_timed) || status=1, \
		tools/bench/each 1 $(benches_long) || status=1); \
	tools/bench/figures print goals; \
	exit $$status

# Asks apt only for packages that dpkg does not know; then configure runs again.
packages:
	$(quiet)wanted=$$(for section in $(sections); do \
		sed -n "/^# $$section:/,/^\$$/s/^[a-z]/&/p" packages.txt; done); \
	present=" $$(dpkg-query -W -f '$${db:Status-Status} $${Package}\n' \
		$$wanted 2> /dev/null | sed -n 's/^installed //p' | tr '\n' ' ')"; \
	missing=$$(for package in $$wanted; do \
		case $$present in *" $$package "*) ;; *) echo $$package ;; esac; \
		done | tr '\n' ' '); \
	install="apt-get install --yes --no-install-recommends $$missing"; \
	if [ -z "$$missing" ]; then \
		:; \
	elif [ "$$(id -u)" = 0 ]; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive $$install && \
		rm -f $(output)/config.mk; \
	else \
		echo "make: packages are missing; install them as root with" >&2; \
		echo "  apt-get update && $$install" >&2; \
		exit 1; \
	fi

# Not those of make programs: packages are built as Debian does, from a copy.
deb: packages
	+$(quiet)$(MAKE) --no-print-directory packages_build

repository: packages
	$(quiet)[ "$(KEY)" ] || { echo "make: name the key of gpg that signs: make repository KEY=ADDRESS" >&2; \
		exit 1; }
	+$(quiet)$(MAKE) --no-print-directory packages_build
	$(quiet)debian/repository "$(KEY)" $(output)/deb/$(version) $(output)/repository

# A job for each processor, and one more for a download, unless the caller says how many.
build = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell expr $$(nproc) + 1))

include selftests/targets.mk

# These goals need nothing below, and must work if it is missing.
above := help clean distclean demo bench bench-long packages p4_is_there deb repository $(checks)
.PHONY: $(above)
export KVER
ifneq ($(filter-out $(above),$(or $(MAKECMDGOALS),all)),)

include $(output)/config.mk
ifeq ($(foreign),)
$(output)/config.mk: configure
	$(quiet)./configure
else
$(root).made: packages.txt selftests/qemu/root
	$(quiet)selftests/qemu/root > /dev/null && touch $@

$(output)/config.mk: configure $(root).made
	$(quiet)OUTPUT=$(output) CC=$(triplet)-gcc CXX=$(triplet)-g++ SYSROOT=$(root) ./configure
endif

# The running kernel, if its headers are there.
ifeq ($(origin KDIR)$(foreign),undefined)
KDIR := $(shell printf '%s\n' 6.2 $$(uname -r) | sort -V -C && \
	ls -d /lib/modules/$$(uname -r)/build 2> /dev/null)
endif
kernel_headers := $(abspath $(or $(KDIR),$(guest_kernel)/headers))

include $(wildcard */build.mk selftests/*/build.mk tools/*/build.mk tools/lib/*/build.mk)

all: programs shared module

packages_known := $(sort cmocka $(foreach name,$(programs) $(libraries),\
	$($(name)_packages)))
CFLAGS ?= -O2 -g
flags := -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror \
	-Wmissing-prototypes -Wstrict-prototypes -D_GNU_SOURCE \
	-DDART_VERSION='"$(version)"' -I. -Iuapi -Itools/lib/include -I$(output)/bpf \
	$(sort $(foreach package,$(packages_known),$($(package)_cflags)))
sanitize := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all

# ---- objects, libraries, programs

$(output)/obj/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(flags) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The only file in C++ hands expressions to RE2: see tools/controller/relabel/regex.h.
cxx_flags = -std=gnu++17 $(filter-out -std=% -Wmissing-prototypes -Wstrict-prototypes,$(flags))

$(output)/obj/%.o: %.cc
	$(quiet)mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) $(cxx_flags) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(output)/sanitized/%.o: %.cc
	$(quiet)mkdir -p $(@D)
	$(call say,CXX-ASAN,$<)$(CXX) $(cxx_flags) $(sanitize) -MMD -MP -c -o $@ $<

$(output)/sanitized/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-ASAN,$<)$(CC) $(flags) $(sanitize) -MMD -MP -c -o $@ $<

# objects DIRECTORY, SOURCES
objects = $(patsubst %,$(output)/$(1)/%.o,$(basename $(2)))

define library
$(output)/lib/lib$(1).a: $(call objects,obj,$($(1)_sources))
$(output)/sanitized/lib$(1).a: $(call objects,sanitized,$($(1)_sources))
endef
$(foreach name,$(libraries),$(eval $(call library,$(name))))

%.a:
	$(quiet)mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

# Linker flags of a program with these packages and libraries.
link = -Wl,--as-needed -lm $(foreach package,\
	$(sort $(1) $(foreach name,$(2),$($(name)_packages))),\
	$(or $($(package)_libs),$(error no library $(package): see ./configure)))

# The shared library is for programs of others: it exports the interface that manual
# pages describe. Programs of the project are linked with the static one, because
# they also use what may change with each version. Both are made of the same objects, in which
# calls of other functions of the library remain direct ones.
position_independent := -fPIC -fno-semantic-interposition
shared = $(output)/lib/lib$(1).so.$($(1)_abi)
shared_libraries = $(foreach name,$(libraries),$(if $($(name)_abi),$(call shared,$(name))))

define shared_library
$(call objects,obj,$($(1)_sources)): flags += $(position_independent)
$(call shared,$(1)): $(call objects,obj,$($(1)_sources)) $($(1)_map)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD-SO,$$@)$$(CC) -shared $$(CFLAGS) $$(LDFLAGS) -Wl,-z,defs \
		-Wl,-soname,$$(@F) -Wl,--version-script=$($(1)_map) -o $$@ \
		$$(filter %.o,$$^) $$(call link,,$(1))
	$$(quiet)ln -sf $$(@F) $$(basename $$@)
endef
$(foreach name,$(libraries),$(if $($(name)_abi),$(eval $(call shared_library,$(name)))))

$(call objects,obj,$(preload_sources)): flags += $(position_independent)
$(preload): $(call objects,obj,$(preload_sources)) $(preload_map)
	$(quiet)mkdir -p $(@D)
	$(call say,LD-SO,$@)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-z,defs \
		-Wl,--version-script=$(preload_map) -Wl,-soname,$(@F) \
		-o $@ $(filter %.o,$^) -pthread -ldl

define program
$(output)/bin/$(1): $(call objects,obj,$($(1)_sources)) \
		$($(1)_libraries:%=$(output)/lib/lib%.a)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ \
		$$(call link,$($(1)_packages),$($(1)_libraries))
$(call objects,obj,$($(1)_sources)): | $($(1)_skeletons:%=$(output)/bpf/%.skel.h)
endef
$(foreach name,$(programs),$(eval $(call program,$(name))))

# Schemas lie beside the programs, as after installation.
$(output)/share/dart/schemas:
	$(quiet)mkdir -p $(@D) && ln -sfn $(abspath schemas) $@

# dartctl runs this program from there.
$(output)/libexec/dart/dartctl-tls: | $(output)/bin/dartctl-tls
	$(quiet)mkdir -p $(@D) && ln -sfn ../../bin/dartctl-tls $@

$(output)/bin/dartctl: | $(output)/libexec/dart/dartctl-tls

# selftests/rooms reads the calls of each object here.
programs: $(programs:%=$(output)/bin/%) $(libraries:%=$(output)/lib/lib%.a) $(texts) $(output)/share/dart/schemas \
	$(output)/libexec/dart/dartctl-tls $(call objects,obj,$(preload_sources))

shared: $(shared_libraries) $(preload)

include selftests/tests.mk install.mk

# ---- a reviewer's first questions

# The source of a kernel, for scripts that no Debian package has.
KSRC ?= $(lastword $(wildcard $(abspath $(output))/kernel/*-debug/headers))

# The toolchain of a newer suite's kernel has no sparse.
lint_flags = W=1 $(if $(wildcard $(dir $(kernel_headers))toolchain),,\
	C=2 CHECK=sparse)

lint: programs $(if $(KDIR),,$(guest_kernel)/headers)
	$(quiet)selftests/lint $(KSRC)
	+$(call kbuild,$(kernel_headers),modules $(lint_flags)) \
		> $(output)/lint.log 2>&1 || { cat $(output)/lint.log; exit 1; }
	$(quiet)! grep -E '(warning|error):' $(output)/lint.log
	@echo "lint: kmod with $(lint_flags): no findings"
	$(quiet)selftests/borrowed $(output)/kmod/$$(cat \
		$(kernel_headers)/include/config/kernel.release)/kmod/dart_zero.ko
	@echo "lint: borrowed: no findings"

.PHONY: all programs shared tests tests_of_guests thread_tests run_fuzzers staged guest module module_of_guest modules_install dkms_install programs_install install lint

objects_known := $(foreach name,$(programs) $(libraries),\
	$(call objects,obj,$($(name)_sources))) $(call objects,obj,$(preload_sources))
-include $(patsubst %.o,%.d,$(objects_known) \
	$(patsubst $(output)/obj/%,$(output)/sanitized/%,$(objects_known)) \
	$(call objects,sanitized,$(unit_sources)) \
	$(patsubst $(output)/obj/%,$(output)/fuzz/obj/%,$(objects_known)) \
	$(patsubst $(output)/obj/%,$(output)/tsan/obj/%,$(objects_known)) \
	$(patsubst $(output)/obj/%,$(output)/helgrind/obj/%,$(objects_known)) \
	$(foreach in,helgrind/obj tsan/obj,$(call objects,$(in),$(unit_sources))) \
	$(foreach in,sanitized fuzz/obj,$(call objects,$(in),\
		$(wildcard selftests/fuzz/*.c))) \
	$(guest_tests:%=$(output)/obj/selftests/%.o) \
	$(foreach in,obj sanitized tsan/obj,$(call objects,$(in),$(test_parts)))) \
	$(wildcard $(output)/bpf/*.d $(output)/bpf/*/*.d $(output)/selftests/sample/*.d)

endif
