#!/bin/sh
# samples/foreign: kernels out of Debian's BLAS archives, right by an independent computation.
. "$top_srcdir/tests/lib/lib.sh"
sample=$top_srcdir/samples/foreign
reference=$top_builddir/samples/foreign/reference

# The alternatives system may put any BLAS under /usr/lib/<multiarch>/libblas.a: name the folders.
for folder in /usr/lib/*-linux-gnu; do
	blas=$folder/blas
	openblas=$folder/openblas-pthread
	[ ! -e "$blas/libblas.a" ] || [ ! -e "$openblas/libopenblas.a" ] || break
done
if [ ! -e "$blas/libblas.a" ] || [ ! -e "$openblas/libopenblas.a" ]; then
	echo "SKIP: needs the packages libblas-dev and libopenblas-pthread-dev"
	exit 77
fi

# link MANIFEST PACKAGE
link() {
	"$sklink" "$1" "$top_builddir/samples/foreign/xerbla.o" -L "$blas" -L "$openblas" -o "$2"
}

link "$sample/foreign.yaml" foreign.sk
"$reference" make .
for cores in 1 2 3; do
	"$skrun" foreign.sk --cores $cores --input a=a.npy --input b=b.npy --input x=x.npy --input \
		velocity=velocity.npy \
		--output x=new_x.npy --output velocity=new_velocity.npy --output residual=residual.npy --output \
			error=error.npy
	"$reference" check .
done
for cores in 1 2 3 7; do
	"$skrun" foreign.sk --random 1 --verify --cores $cores
done

# Another step length: the check must notice.
sed 's/alpha: 0.001/alpha: 0.0011/' "$sample/foreign.yaml" >wrong.yaml
link wrong.yaml wrong.sk
"$skrun" wrong.sk --input a=a.npy --input b=b.npy --input x=x.npy --input velocity=velocity.npy \
	--output x=new_x.npy --output velocity=new_velocity.npy --output residual=residual.npy --output error=error.npy
fails_with 'new_x\[0\] is .*, expected' "$reference" check .

# A wrong argument ends the launch through the sample's own xerbla_.
sed 's/lda: n, incx: 1, beta: 0/lda: 0, incx: 1, beta: 0/' "$sample/foreign.yaml" >argument.yaml
link argument.yaml argument.sk
fails_with "task 'product': kernel dgemv_ called abort on core 0, at xerbla_" "$skrun" argument.sk --random 1
