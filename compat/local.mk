# libskcompat.a: what objects of other compilers ask of their runtime. It is compiled as kernels are, by the kernels'
# compiler, and never sanitized. A hook of TVM is an object of its own, because it is strong.
COMPAT_FILES = \
	compat/compat.h compat/cplusplus.c compat/gfortran.c compat/halide-hook.c compat/halide.c compat/numba.c \
	compat/openmp.c compat/python.c compat/sleef.c compat/tell.c compat/tvm-hook.c compat/tvm.c compat/zig.c
COMPAT_TVM_HOOKS = \
	TVMAPISetLastError TVMBackendAllocWorkspace TVMBackendFreeWorkspace TVMBackendParallelBarrier \
	TVMBackendParallelLaunch TVMFFIErrorSetRaisedFromCStr TVMFFIErrorSetRaisedFromCStrParts
COMPAT_OBJECTS = \
	compat/cplusplus.o compat/gfortran.o compat/halide.o compat/numba.o compat/openmp.o compat/python.o \
	compat/sleef-128.o compat/sleef-256.o compat/sleef-512.o compat/tell.o compat/tvm.o compat/zig.o \
	$(COMPAT_TVM_HOOKS:%=compat/hook-%.o) \
	compat/hook-17custom_do_par_for.o compat/hook-12custom_print.o compat/hook-13error_handler.o
COMPAT_CFLAGS = \
	-std=gnu11 -O2 -fPIC -ffunction-sections -fdata-sections -fno-ident -fno-stack-protector -fno-builtin -Wall \
	-Wextra -Wshadow
COMPAT_COMPILE = $(AM_V_CC)$(MKDIR_P) $(@D) && $(KERNEL_CC) $(COMPAT_CFLAGS) -I$(top_srcdir)
EXTRA_DIST += $(COMPAT_FILES)

compat/sleef-%.o: compat/sleef.c compat/compat.h
	$(COMPAT_COMPILE) -DSLEEF_BITS=$* -c -o $@ $(top_srcdir)/compat/sleef.c
compat/hook-17custom_do_par_for.o: HALIDE_FUNCTION = sk_halide_do_par_for
compat/hook-12custom_print.o: HALIDE_FUNCTION = sk_halide_print
compat/hook-13error_handler.o: HALIDE_FUNCTION = sk_halide_error
compat/hook-17custom_do_par_for.o compat/hook-12custom_print.o compat/hook-13error_handler.o: compat/hook-%.o: \
		compat/halide-hook.c
	$(COMPAT_COMPILE) -DHALIDE_HOOK=_ZN6Halide7Runtime8Internal$*E -DHALIDE_FUNCTION=$(HALIDE_FUNCTION) -c -o $@ \
		$(top_srcdir)/compat/halide-hook.c
compat/hook-%.o: compat/tvm-hook.c
	$(COMPAT_COMPILE) -DTVM_HOOK=$* -c -o $@ $(top_srcdir)/compat/tvm-hook.c
compat/cplusplus.o compat/gfortran.o compat/halide.o compat/numba.o compat/openmp.o compat/python.o compat/tell.o \
		compat/tvm.o compat/zig.o: compat/%.o: compat/%.c compat/compat.h
	$(COMPAT_COMPILE) -c -o $@ $(top_srcdir)/compat/$*.c
compat/libskcompat.a: $(COMPAT_OBJECTS)
	$(AM_V_AR)rm -f $@ && $(AR) rcD $@ $(COMPAT_OBJECTS)

nodist_skernels_DATA += compat/libskcompat.a
CLEANFILES += compat/*.o compat/libskcompat.a
