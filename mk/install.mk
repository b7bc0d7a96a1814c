# SPDX-License-Identifier: ISC
#
# Installing, and the archive for a release.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man

MAN_PAGES := $(wildcard cmd/dtprof/*.[1-8] doc/*.[1-8])
man_dir = $(DESTDIR)$(MANDIR)/man$(patsubst .%,%,$(suffix $(1)))

.PHONY: install uninstall dist

#> install: below DESTDIR and PREFIX
install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig \
	    $(DESTDIR)$(INCLUDEDIR)/libprof
	$(INSTALL) -m 755 $(O)/dtprof $(DESTDIR)$(BINDIR)/
	$(INSTALL) -m 644 $(O)/libprof.a $(O)/libprof.so.0 \
	    $(DESTDIR)$(LIBDIR)/
	ln -sf libprof.so.0 $(DESTDIR)$(LIBDIR)/libprof.so
	$(INSTALL) -m 644 libprof/prof.h libprof/errors.def \
	    $(DESTDIR)$(INCLUDEDIR)/libprof/
	sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@LIBDIR@,$(LIBDIR),' \
	    -e 's,@INCLUDEDIR@,$(INCLUDEDIR),' -e 's,@VERSION@,$(VERSION),' \
	    -e 's,@LIBS@,$(OUR_LIBS),' mk/libprof.pc.in \
	    >$(DESTDIR)$(LIBDIR)/pkgconfig/libprof.pc
	@$(foreach page,$(MAN_PAGES),$(INSTALL) -d $(call man_dir,$(page)) && \
	    $(INSTALL) -m 644 $(page) $(call man_dir,$(page))/ &&) :

#> uninstall: remove what install put there
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/dtprof $(DESTDIR)$(LIBDIR)/libprof.a \
	    $(DESTDIR)$(LIBDIR)/libprof.so.0 $(DESTDIR)$(LIBDIR)/libprof.so \
	    $(DESTDIR)$(INCLUDEDIR)/libprof/prof.h \
	    $(DESTDIR)$(INCLUDEDIR)/libprof/errors.def \
	    $(DESTDIR)$(LIBDIR)/pkgconfig/libprof.pc \
	    $(foreach page,$(MAN_PAGES),\
	    $(call man_dir,$(page))/$(notdir $(page)))
	-rmdir $(DESTDIR)$(INCLUDEDIR)/libprof 2>/dev/null

#> dist: the archive of the last commit, build/dtprof-VERSION.tar.gz
dist:
	@mkdir -p $(O)
	git archive --format=tar --prefix=dtprof-$(VERSION)/ \
	    -o $(O)/dtprof-$(VERSION).tar HEAD
	gzip -9nf $(O)/dtprof-$(VERSION).tar
