# libskcompat.a: what objects of other compilers ask of their runtime. It is compiled as kernels are, by the kernels'
# compiler, and never sanitized. A hook of TVM is an object of its own, because it is strong.
COMPAT_FILES = \
	compat/compat.h compat/gfortran.c compat/halide.c compat/numba.c compat/openmp.c compat/python.c \
	compat/sleef.c compat/tell.c compat/tvm-hook.c compat/tvm.c
COMPAT_TVM_HOOKS = \
	TVMAPISetLastError TVMBackendAllocWorkspace TVMBackendFreeWorkspace TVMBackendParallelBarrier \
	TVMBackendParallelLaunch TVMFFIErrorSetRaisedFromCStr TVMFFIErrorSetRaisedFromCStrParts
COMPAT_OBJECTS = \
	compat/gfortran.o compat/halide.o compat/numba.o compat/openmp.o compat/python.o compat/sleef-128.o \
	compat/sleef-256.o compat/sleef-512.o compat/tell.o compat/tvm.o $(COMPAT_TVM_HOOKS:%=compat/hook-%.o)
COMPAT_CFLAGS = \
	-std=gnu11 -O2 -fPIC -ffunction-sections -fdata-sections -fno-ident -fno-stack-protector -fno-builtin -Wall \
	-Wextra -Wshadow
COMPAT_COMPILE = $(AM_V_CC)$(MKDIR_P) $(@D) && $(KERNEL_CC) $(COMPAT_CFLAGS) -I$(top_srcdir)
EXTRA_DIST += $(COMPAT_FILES)

compat/sleef-%.o: compat/sleef.c compat/compat.h
	$(COMPAT_COMPILE) -DSLEEF_BITS=$* -c -o $@ $(top_srcdir)/compat/sleef.c
compat/hook-%.o: compat/tvm-hook.c
	$(COMPAT_COMPILE) -DTVM_HOOK=$* -c -o $@ $(top_srcdir)/compat/tvm-hook.c
compat/gfortran.o compat/halide.o compat/numba.o compat/openmp.o compat/python.o compat/tell.o compat/tvm.o: \
		compat/%.o: compat/%.c compat/compat.h
	$(COMPAT_COMPILE) -c -o $@ $(top_srcdir)/compat/$*.c
compat/libskcompat.a: $(COMPAT_OBJECTS)
	$(AM_V_AR)rm -f $@ && $(AR) rcD $@ $(COMPAT_OBJECTS)

nodist_skernels_DATA += compat/libskcompat.a
CLEANFILES += compat/*.o compat/libskcompat.a
