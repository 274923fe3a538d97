# Samples: kernels to copy, compiled like all kernels (KERNEL_CC, never sanitized), and for each sample a program that
# makes its inputs and checks its results without sklink.
SAMPLE_KERNELS = \
	samples/composite/kernels.o \
	samples/decode_layers/kernels.o \
	samples/foreign/xerbla.o \
	samples/microkernels/kernels.o \
	samples/quant_matmul/quant_matmul.o \
	samples/quant_matmul/dequant_swiglu_quant.o

$(SAMPLE_KERNELS): %.o: $(top_srcdir)/%.c $(top_srcdir)/format/skkernel.h
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(KERNEL_CC) $(KERNEL_CFLAGS) -Wall -Wextra -I$(top_srcdir)/format -c -o $@ $<

# The same for processors with AVX2.
SAMPLE_KERNELS_AVX2 = samples/microkernels/kernels-avx2.o
$(SAMPLE_KERNELS_AVX2): %-avx2.o: $(top_srcdir)/%.c $(top_srcdir)/format/skkernel.h
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(KERNEL_CC) $(KERNEL_CFLAGS) -mavx2 -mfma -ffp-contract=fast -Wall -Wextra -I$(top_srcdir)/format \
		-c -o $@ $<

noinst_LIBRARIES += samples/libreference.a
samples_libreference_a_SOURCES = samples/tensor-file.c samples/tensor-file.h
reference_parts = samples/libreference.a format/libnpy.a base/libbase.a base/libshared.la

SAMPLE_REFERENCES = \
	samples/composite/reference \
	samples/decode_layers/reference \
	samples/foreign/reference \
	samples/microkernels/reference \
	samples/quant_matmul/reference
samples_composite_reference_SOURCES = samples/composite/reference.c
samples_composite_reference_LDADD = $(reference_parts) -lm
samples_decode_layers_reference_SOURCES = samples/decode_layers/reference.c
samples_decode_layers_reference_LDADD = $(reference_parts) -lm
samples_foreign_reference_SOURCES = samples/foreign/reference.c
samples_foreign_reference_LDADD = $(reference_parts) -lm
samples_microkernels_reference_SOURCES = samples/microkernels/reference.c
samples_microkernels_reference_LDADD = $(reference_parts) -lm
samples_quant_matmul_reference_SOURCES = samples/quant_matmul/reference.c
samples_quant_matmul_reference_LDADD = $(reference_parts) -lm

# Ways to run a package from a program; run.py is one more.
samples_composite_run_SOURCES = samples/composite/run.c
samples_composite_run_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/loader
samples_composite_run_LDADD = libskrt.la
if HAVE_CXX
samples_composite_run_cc_SOURCES = samples/composite/run.cc loader/skrt.hh
samples_composite_run_cc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/loader
samples_composite_run_cc_CXXFLAGS = $(AM_CXXFLAGS) -std=c++14 -Wall -Wextra $(SANITIZE_CFLAGS)
samples_composite_run_cc_LDADD = libskrt.la
noinst_PROGRAMS += samples/composite/run-cc
endif
samples_composite_serial_SOURCES = samples/composite/serial.c
samples_composite_serial_LDADD = -ldl

samples_decoder_run_SOURCES = samples/decoder/run.c
samples_decoder_run_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/loader
samples_decoder_run_LDADD = libskrt.la

noinst_PROGRAMS += $(SAMPLE_REFERENCES) samples/composite/run samples/composite/serial samples/decoder/run
noinst_DATA = $(SAMPLE_KERNELS) $(SAMPLE_KERNELS_AVX2)
CLEANFILES += $(SAMPLE_KERNELS) $(SAMPLE_KERNELS_AVX2)

# To be read and copied; the reference programs are built with sklink only.
nobase_dist_doc_DATA += \
	samples/bert/README.md samples/bert/training.py \
	samples/building/CMakeLists.txt samples/building/Makefile samples/building/meson.build \
	samples/building/README.md samples/building/network.yaml samples/building/bias.npy samples/building/scale.c \
	samples/building/add.c samples/building/square.c samples/building/main.c \
	samples/composite/README.md samples/composite/kernels.c samples/composite/composite.yaml \
	samples/composite/composite.pbtxt samples/composite/run.c samples/composite/run.cc samples/composite/serial.c \
	samples/composite/linked.c \
	samples/convnet/README.md \
	samples/decode_layers/README.md samples/decode_layers/kernels.c \
	samples/decoder/README.md samples/decoder/run.c \
	samples/foreign/README.md samples/foreign/xerbla.c samples/foreign/foreign.yaml \
	samples/microkernels/README.md samples/microkernels/kernels.c samples/microkernels/microkernels.yaml \
	samples/quant_matmul/README.md samples/quant_matmul/quant_matmul.c \
	samples/quant_matmul/dequant_swiglu_quant.c samples/quant_matmul/quant_matmul.yaml \
	samples/quant_matmul/model.pbtxt samples/quant_matmul/small.yaml \
	samples/tensor_parallel/README.md
samplesdir = $(docdir)
nobase_dist_samples_SCRIPTS += samples/bert/bert.py samples/composite/run.py samples/convnet/convnet.py \
	samples/decode_layers/generate samples/decoder/decoder.py \
	samples/tensor_parallel/tensor_parallel.py
EXTRA_DIST += samples/demo .ci/run
