/* The kernels of property-kernels.c for one type: T, with NAME to append the type's name to a function's.
 * network-kernels.c defines the result of each of them once more, independently. */

/* Elementwise. */
void NAME(scale)(const T *x, T *y, int64_t n, uint64_t factor)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] * factor + 1);
}

void NAME(add)(const T *a, const T *b, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(a[i] + 3 * b[i]);
}

void NAME(accumulate)(const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(3 * y[i] + x[i]);
}

void NAME(fill)(T *y, int64_t n, uint64_t value)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)value;
}

/* Addresses that are passed at a distance from the tensors. */
void NAME(scale_far)(const T *x, T *y, int64_t n, uint64_t factor)
{
	NAME(scale)((const T *)((uintptr_t)x + 72), (T *)((uintptr_t)y - 2147483584), n, factor);
}

/* A shared table, and a scalar by address. */
void NAME(look_up)(const T *x, const T *table, T *y, const int64_t *n, int64_t k, const uint64_t *more)
{
	for (int64_t i = 0; i < *n; i++)
		y[i] = (T)(x[i] + table[x[i] % (uint64_t)k] + *more);
}

void NAME(look_at)(const uint64_t *table, const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] + table[x[i] % 4]);
}

int NAME(checked)(const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] ^ 5;
	return 0;
}

/* Three elements for one, and back. */
void NAME(triple)(const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		for (int j = 0; j < 3; j++)
			y[3 * i + j] = (T)(x[i] * (T)(j + 1));
}

void NAME(third)(const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[3 * i] + x[3 * i + 1] + x[3 * i + 2]);
}

/* From one type to another, and back. */
void NAME(widen)(const T *x, uint64_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * UINT64_C(0x10001) + 1;
}

void NAME(narrow)(const uint64_t *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] ^ x[i] >> 16);
}

/* By rows. */
void NAME(add_row)(const T *x, const T *row, T *y, int64_t r, int64_t w, uint64_t factor)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * w + j] = (T)(x[i * w + j] + row[j] * factor);
}

void NAME(add_column)(const T *x, const T *column, T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * w + j] = (T)(x[i * w + j] + column[i]);
}

void NAME(row_sums)(const T *x, T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r; i++) {
		T sum = 0;

		for (int64_t j = 0; j < w; j++)
			sum = (T)(sum + x[i * w + j]);
		y[i] = sum;
	}
}

void NAME(row_scan)(T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 1; j < w; j++)
			y[i * w + j] = (T)(y[i * w + j] + y[i * w + j - 1]);
}

void NAME(multiply)(const T *a, const T *b, T *y, int64_t r, int64_t k, int64_t w)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++) {
			T sum = 0;

			for (int64_t l = 0; l < k; l++)
				sum = (T)(sum + (uint64_t)a[i * k + l] * b[l * w + j]);
			y[i * w + j] = sum;
		}
}

struct NAME(box) {
	const T *a;
	struct NAME(inner_box) {
		const T *b;
		int64_t n;
	} * q;
	T *y;
};

void NAME(add_boxed)(struct NAME(box) * p)
{
	for (int64_t i = 0; i < p->q->n; i++)
		p->y[i] = (T)(p->a[i] + 3 * p->q->b[i]);
	*p->q = (struct NAME(inner_box)){0};
	*p = (struct NAME(box)){0};
}

void NAME(add_rows)(const T **rows, T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r; i++) {
		for (int64_t j = 0; j < w; j++)
			y[i * w + j] = (T)(rows[i][j] * 2 + j);
		rows[i] = y;
	}
}

struct NAME(memref) {
	T *base, *data;
	int64_t offset, sizes[2], strides[2];
};

void NAME(scale_memref)(struct NAME(memref) * x, struct NAME(memref) * y, uint64_t factor)
{
	for (int64_t i = 0; i < x->sizes[0]; i++)
		for (int64_t j = 0; j < x->sizes[1]; j++)
			y->data[i * y->strides[0] + j * y->strides[1]] =
				(T)(x->data[i * x->strides[0] + j * x->strides[1]] * factor + 1);
	*x = *y = (struct NAME(memref)){0};
}

/* Structs of other compilers: a buffer of Halide, an array of gfortran, the arguments of a function of TVM. */
struct NAME(halide) {
	uint64_t device;
	const void *device_interface;
	T *host;
	uint64_t flags;
	uint32_t type;
	int32_t dimensions;
	struct NAME(halide_dimension) {
		int32_t min, extent, stride;
		uint32_t flags;
	} * dim;
	void *padding;
};

int NAME(scale_halide)(struct NAME(halide) * x, struct NAME(halide) * y, uint64_t factor)
{
	if (x->dimensions != 2 || y->dim[0].extent != x->dim[0].extent || y->dim[1].extent != x->dim[1].extent)
		return 1;
	for (int32_t i = 0; i < x->dim[1].extent; i++)
		for (int32_t j = 0; j < x->dim[0].extent; j++)
			y->host[i * y->dim[1].stride + j * y->dim[0].stride] =
				(T)(x->host[i * x->dim[1].stride + j * x->dim[0].stride] * factor + 1);
	x->dim[0] = y->dim[1] = (struct NAME(halide_dimension)){0};
	*x = *y = (struct NAME(halide)){0};
	return 0;
}

struct NAME(descriptor) {
	T *base;
	int64_t offset;
	uint64_t size;
	int64_t type, span;
	struct {
		int64_t stride, lower, upper;
	} dim[2];
};

void NAME(scale_fortran)(struct NAME(descriptor) * x, struct NAME(descriptor) * y, const uint64_t *factor)
{
	for (int64_t i = x->dim[1].lower; i <= x->dim[1].upper; i++)
		for (int64_t j = x->dim[0].lower; j <= x->dim[0].upper; j++)
			y->base[y->offset + i * y->dim[1].stride + j * y->dim[0].stride] =
				(T)(x->base[x->offset + i * x->dim[1].stride + j * x->dim[0].stride] * *factor + 1);
	*x = *y = (struct NAME(descriptor)){0};
}

struct NAME(tvm) {
	T *data;
	int64_t device;
	int32_t ndim;
	uint32_t dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
};

int NAME(toggle_packed)(void **arguments, int32_t *codes, int32_t count, void *result, int32_t *result_code,
			void *resource)
{
	struct NAME(tvm) *x = arguments[0], *y = arguments[1];

	(void)result, (void)result_code;
	if (count != 2 || codes[0] != 7 || x->ndim != 2 || y->shape[0] != x->shape[0] || x->strides || resource)
		return 1;
	for (int64_t i = 0; i < x->shape[0] * x->shape[1]; i++)
		y->data[i] = x->data[i] ^ 5;
	x->shape[0] = y->shape[1] = 0;
	*x = *y = (struct NAME(tvm)){0};
	arguments[0] = arguments[1] = NULL;
	return 0;
}

/* Rows that lie apart. */
void NAME(scale_rows)(const T *x, T *y, int64_t r, int64_t w, int64_t ldx, int64_t ldy, uint64_t factor)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * ldy + j] = (T)(x[i * ldx + j] * factor + 1);
}

void NAME(scale_rows_far)(const T *x, T *y, int64_t r, int64_t w, int64_t ldx, int64_t ldy, uint64_t factor)
{
	NAME(scale_rows)((const T *)((uintptr_t)x + 20480), (T *)((uintptr_t)y - 8), r, w, ldx, ldy, factor);
}

void NAME(add_apart)(const T *x, T *y, int64_t r, int64_t w, int64_t ldx, int64_t ldy)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * ldy + j] = (T)(3 * y[i * ldy + j] + x[i * ldx + j]);
}

void NAME(stripe)(const struct sk_block *block, const T *x, T *y, int64_t r, int64_t w, int64_t ldx, int64_t ldy)
{
	uint64_t low, high;

	sk_wait_pre_task_end(block);
	sk_block_range(block, (uint64_t)r, &low, &high);
	for (int64_t i = (int64_t)low; i < (int64_t)high; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * ldy + j] = (T)(2 * x[i * ldx + j] + block->index);
	sk_set_next_task_start(block);
}

/* Read bytes without using them. */
static inline void NAME(look_behind)(const T *x, int bytes)
{
	const volatile unsigned char *at = (const volatile unsigned char *)x;

	while (bytes--)
		(void)*at++;
}

struct NAME(apart) {
	const T *x;
	int64_t ldx;
	T *y;
	int64_t ldy;
};

void NAME(rows_apart)(struct NAME(apart) * p, int64_t r, int64_t w, uint64_t factor)
{
	NAME(scale_rows)(p->x, p->y, r, w, p->ldx, p->ldy, factor);
	NAME(look_behind)(p->x + (r - 1) * p->ldx + w, 40);
	*p = (struct NAME(apart)){0};
}

void NAME(rows_far)(struct NAME(apart) * p, int64_t r, int64_t w, uint64_t factor)
{
	p->x = (const T *)((uintptr_t)p->x + 200);
	p->y = (T *)((uintptr_t)p->y + 2147483640);
	NAME(rows_apart)(p, r, w, factor);
}

void NAME(table_apart)(const T **rows, T *y, int64_t w)
{
	for (int64_t j = 0; j < w; j++)
		y[j] = (T)(rows[0][j] * 2 + j);
	NAME(look_behind)(rows[0] + w, 24);
}

void NAME(table_far)(const T **rows, T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r; i++)
		rows[i] = (const T *)((uintptr_t)rows[i] - 136);
	NAME(add_rows)(rows, y, r, w);
}

/* Reads around a part. */
void NAME(three_rows)(const T *x, T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r * w; i++)
		y[i] = (T)(x[i] + 2 * x[i + w] + 5 * x[i + 2 * w]);
}

void NAME(three_in_blocks)(const struct sk_block *block, const T *x, T *y, int64_t r, int64_t w)
{
	uint64_t low, high;

	sk_wait_pre_task_end(block);
	sk_block_range(block, (uint64_t)r, &low, &high);
	NAME(three_rows)(x + (int64_t)low * w, y + (int64_t)low * w, (int64_t)(high - low), w);
	sk_set_next_task_start(block);
}

void NAME(number_apart)(const T *x, T *y, int64_t first, int64_t r, int64_t column, int64_t columns, int64_t w,
			int64_t ldx, int64_t ldy)
{
	for (int64_t i = first; i < first + r; i++)
		for (int64_t j = column; j < column + columns; j++)
			y[i * ldy + j] = (T)(2 * x[i * ldx + j] + (T)(i * w + j));
}

void NAME(three_at)(const T **p, T *y, int64_t w)
{
	for (int64_t j = 0; j < w; j++)
		y[j] = (T)(p[0][j] + 2 * p[1][j] + 5 * p[2][j]);
	p[0] = p[1] = p[2] = y;
}

void NAME(window)(const T *x, const T *h, T *y, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < n; i++) {
		T sum = 1;

		for (int64_t j = 0; j < k; j++)
			sum = (T)(sum + (uint64_t)x[i + j] * h[j]);
		y[i] = sum;
	}
}

/* Reads after a tensor. */
void NAME(peek)(const T *x, T *y, int64_t n)
{
	NAME(look_behind)(x + n, 64);
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] ^ 5;
}

void NAME(peek_rows)(const T *x, T *y, int64_t r, int64_t w, int64_t ldx)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * w + j] = x[i * ldx + j] ^ 5;
	NAME(look_behind)(x + (r - 1) * ldx + w, 100);
}

void NAME(peek_apart)(const T *x, T *y, int64_t r, int64_t w, int64_t ldx, int64_t ldy)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * ldy + j] = x[i * ldx + j] ^ 5;
	NAME(look_behind)(x + (r - 1) * ldx + w, 100);
}

/* Return 1 if an address is not as promised. */
int NAME(aligned)(const T *x, T *y, int64_t n, int64_t alignment)
{
	if (((uintptr_t)x | (uintptr_t)y) % (uint64_t)alignment)
		return 1;
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] ^ 5;
	return 0;
}

int NAME(aligned_rows)(const T *x, T *y, int64_t r, int64_t w, int64_t ldx)
{
	if (((uintptr_t)x | (uintptr_t)y) % 32)
		return 1;
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * w + j] = x[i * ldx + j] ^ 5;
	return 0;
}

void NAME(reported)(const T *x, T *y, int64_t n, int32_t *info)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] ^ 5 ^ (T)*info);
	*info = 0;
}

void NAME(three_memref)(struct NAME(memref) * x, struct NAME(memref) * y)
{
	int64_t stride = x->strides[0];

	for (int64_t i = 0; i < x->sizes[0] - 2; i++)
		for (int64_t j = 0; j < y->sizes[1]; j++) {
			const T *from = &x->data[i * stride + j * x->strides[1]];

			y->data[i * y->strides[0] + j * y->strides[1]] =
				(T)(from[0] + 2 * from[stride] + 5 * from[2 * stride]);
		}
	*x = *y = (struct NAME(memref)){0};
}

/* A tile: rows of y and of b lie so many bytes apart. */
void NAME(multiply_tile)(const T *a, const T *b, T *y, int64_t r, int64_t k, int64_t w, uint64_t bytes)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++) {
			T *to = (T *)((char *)y + (uint64_t)i * bytes) + j;

			*to = 0;
			for (int64_t l = 0; l < k; l++)
				*to = (T)(*to + (uint64_t)a[i * k + l] *
							((const T *)((const char *)b + (uint64_t)l * bytes))[j]);
		}
}

void NAME(scale_bytes)(uint64_t bytes, const T *x, T *y, uint64_t factor, const void *none)
{
	for (uint64_t i = 0; i < bytes / sizeof(T) && !none; i++)
		y[i] = (T)(x[i] * factor + 1);
}

void NAME(add_index)(const T *x, T *y, int64_t begin, const int64_t *end)
{
	for (int64_t i = begin; i < *end; i++)
		y[i] = (T)(x[i] + (T)i);
}

void NAME(number_rows)(const T *x, T *y, int64_t first, int64_t r, int64_t w, int64_t stride)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[i * stride + j] = (T)(2 * x[i * stride + j] + (T)(first + i * stride + j));
}

/* One program of a grid. */
void NAME(program)(const T *x, T *y, int64_t n, int64_t p, uint8_t q, uint64_t ps, int16_t qs)
{
	for (int64_t i = 7 * p; i < n && i < 7 * p + 7; i++)
		if (i % qs == q)
			y[i] = (T)(x[i] + (T)(p + 5 * q) + ps + (T)qs);
}

void NAME(stride_number)(uint32_t index, T *y, int64_t n, int64_t count)
{
	for (int64_t i = index; i < n; i += count)
		y[i] = (T)(y[i] + index + 1);
}

/* Blocks that take every count-th element. */
void NAME(weave)(const struct sk_block *block, const T *x, T *y, int64_t n, uint64_t *note)
{
	*note = block->index * UINT64_C(7) + block->count;
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = (T)(x[n - 1 - i] + *note);
}

void NAME(stride)(const struct sk_block *block, T *y, int64_t n)
{
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = (T)(y[i] + block->index + 1);
}

/* Blocks with a range of rows each. */
void NAME(number)(const struct sk_block *block, T *y, int64_t r, int64_t w)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)r, &low, &high);
	for (uint64_t i = low * (uint64_t)w; i < high * (uint64_t)w; i++)
		y[i] = (T)(y[i] + 100 * block->index + block->count);
}

void NAME(mark_rows)(const struct sk_block *block, const T *x, const T *row, T *y, int64_t r, int64_t w)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)r, &low, &high);
	for (uint64_t i = low; i < high; i++)
		for (uint64_t j = 0; j < (uint64_t)w; j++)
			y[i * (uint64_t)w + j] = (T)(3 * x[i * (uint64_t)w + j] + row[j] + block->index);
}

/* On one core. */
void NAME(reverse)(const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[n - 1 - i];
}

void NAME(transpose)(const T *x, T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < w; j++)
			y[j * r + i] = x[i * w + j];
}

T NAME(sum)(const T *x, int64_t n)
{
	T total = 0;

	for (int64_t i = 0; i < n; i++)
		total = (T)(total + x[i]);
	return total;
}

/* Return 1 if a scratch is not as promised. */
int NAME(through_scratch)(const T *x, T *y, int64_t n, unsigned char *one, unsigned char *two)
{
	if (((uintptr_t)one | (uintptr_t)two) % 64 || (one < two ? one + 65 > two : two + 1 > one))
		return 1;
	*two = 9;
	for (int64_t i = 0; i < n; i++) {
		one[i % 65] = (unsigned char)(i + *two);
		y[i] = (T)(x[i] + one[i % 65]);
	}
	return 0;
}

/* Hidden state: the result depends on the order of the calls. */
void NAME(counted)(const T *x, T *y, int64_t n)
{
	static T calls;

	calls++;
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] + calls);
}

/* The same, with state shared by several kernels through a function; elements take their time, so that concurrent calls
 * would meet. */
static T NAME(common);

__attribute__((noinline)) static T NAME(advance)(uint64_t by)
{
	return NAME(common) = (T)(3 * NAME(common) + by);
}

void NAME(tally)(const T *x, T *y, int64_t n)
{
	T first = NAME(advance)(1);

	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] + first);
}

void NAME(retell)(T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(y[i] * 5 + NAME(advance)((uint64_t)i % 7));
}

/* Touch the state before the wait and after the set. */
void NAME(early_tally)(const struct sk_block *block, const T *x, T *y, int64_t n)
{
	T first = NAME(advance)(4);

	sk_wait_pre_task_end(block);
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] + first + (uint64_t)i % 3 * NAME(advance)(5));
	sk_set_next_task_start(block);
	NAME(advance)((uint64_t)n);
}

/* The C library's state. */
void NAME(draw)(T *y, int64_t n, uint64_t value)
{
	srand((unsigned)value);
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(i % 2 ? random() : rand());
}

void NAME(early_draw)(const struct sk_block *block, const T *x, T *y, int64_t n)
{
	T first;

	srandom((unsigned)n);
	first = (T)random();
	sk_wait_pre_task_end(block);
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] ^ (T)(i ? random() : first));
	sk_set_next_task_start(block);
	srandom((unsigned)first);
}

/* Blocks that work together. */
void NAME(rotate)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		t[i] = (T)(x[i] + 2 * block->index);
	sk_sync_all(block);
	for (uint64_t i = low; i < high; i++)
		y[i] = (T)(t[i] + t[(uint64_t)n - 1 - i]);
}

/* In turns: cube, vector, cube. */
void CUBE(trade)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		t[i] = (T)(2 * t[i] + x[i]);
	sk_set_flag(block, 0);
	sk_wait_flag(block, SK_FLAGS - 1);
	for (uint64_t i = low; i < high; i++)
		y[i] = (T)(t[i] + block->index);
}

void VECTOR(trade)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	uint64_t low, high;

	(void)x, (void)y;
	sk_block_range(block, (uint64_t)n, &low, &high);
	sk_wait_flag(block, 0);
	for (uint64_t i = low; i < high; i++)
		t[i] = (T)(3 * t[i]);
	sk_set_flag(block, SK_FLAGS - 1);
}

/* The same, each of two vector blocks for one half of a cube block's range, twice over. */
void CUBE(share)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (int turn = 0; turn < 2; turn++) {
		for (uint64_t i = low; i < high; i++)
			t[i] = (T)(2 * t[i] + x[i]);
		sk_set_flag(block, 3);
		sk_wait_flag(block, 4);
	}
	for (uint64_t i = low; i < high; i++)
		y[i] = (T)(t[i] + block->count);
}

void VECTOR(share)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	const struct sk_block cube = {.index = block->index / 2, .count = block->count / 2};
	uint64_t low, high, half;

	(void)x, (void)y;
	sk_block_range(&cube, (uint64_t)n, &low, &high);
	half = low + (high - low) / 2;
	for (int turn = 0; turn < 2; turn++) {
		sk_wait_flag(block, 3);
		for (uint64_t i = block->index % 2 ? half : low; i < (block->index % 2 ? high : half); i++)
			t[i] = (T)(3 * t[i] + block->index % 2);
		sk_set_flag(block, 4);
	}
}

/* All blocks of both sides meet. */
void CUBE(meet)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	(void)y;
	for (int64_t i = block->index; i < n; i += block->count)
		t[i] = (T)(x[i] + 1);
	sk_sync_all(block);
}

void VECTOR(meet)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	(void)x;
	sk_sync_all(block);
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = t[n - 1 - i];
}

/* Kernels that wait and publish by themselves, with work before and after that touches no tensor. */
void NAME(early_weave)(const struct sk_block *block, const T *x, T *y, int64_t n)
{
	uint64_t note = block->index * UINT64_C(3) + 1;

	sk_wait_pre_task_end(block);
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = (T)(x[i] + note);
	sk_set_next_task_start(block);
}

void NAME(early_rows)(const struct sk_block *block, T *y, int64_t r, int64_t w)
{
	uint64_t low, high;

	sk_wait_pre_task_end(block);
	sk_block_range(block, (uint64_t)r, &low, &high);
	for (uint64_t i = low * (uint64_t)w; i < high * (uint64_t)w; i++)
		y[i] = (T)(2 * y[i] + block->index);
	sk_set_next_task_start(block);
}

void NAME(early_meeting)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	sk_wait_pre_task_end(block);
	for (int64_t i = block->index; i < n; i += block->count)
		t[i] = (T)(x[i] + 5);
	sk_sync_all(block);
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = t[n - 1 - i];
	sk_set_next_task_start(block);
}

/* Kernels that belie `split`: by a threshold, by the place in the call, at its end, by its length. */
void NAME(scale_from)(const T *x, T *y, int64_t n, uint64_t factor)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] * factor + (n < 200));
}

void NAME(scale_in_place)(const T *x, T *y, int64_t n, uint64_t factor)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(x[i] * factor + (uint64_t)i);
}

void NAME(add_end)(const T *a, const T *b, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(a[i] + 3 * b[i] + (i == n - 1));
}

void NAME(accumulate_before)(const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (T)(y[i] + x[i] + (i && i % 64 == 0));
}

void NAME(count_rows)(const T *x, T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r; i++)
		y[i] = (T)(x[i * w] + (uint64_t)r);
}

void NAME(scan_rows)(T *y, int64_t r, int64_t w)
{
	for (int64_t i = 0; i < r * w; i++)
		y[i] = (T)(2 * y[i] + (i < w));
}

/* ---- kernels that belie the direction of a parameter ---- */

/* Through a pointer that is for reading. */
static inline void NAME(change)(const T *x)
{
	((T *)(uintptr_t)x)[0] ^= 1;
}

void NAME(reverse_changing)(const T *x, T *y, int64_t n)
{
	NAME(reverse)(x, y, n);
	NAME(change)(x + n / 2);
}

void NAME(third_changing)(const T *x, T *y, int64_t n)
{
	NAME(third)(x, y, n);
	NAME(change)(x);
}

void NAME(look_up_changing)(const T *x, const T *table, T *y, const int64_t *n, int64_t k, const uint64_t *more)
{
	NAME(look_up)(x, table, y, n, k, more);
	NAME(change)(table + k - 1);
}

void NAME(accumulate_changing)(const T *x, T *y, int64_t n)
{
	NAME(accumulate)(x, y, n);
	NAME(change)(x + n - 1);
}

void NAME(window_changing)(const T *x, const T *h, T *y, int64_t n, int64_t k)
{
	NAME(window)(x, h, y, n, k);
	NAME(change)(h);
}

void NAME(weave_changing)(const struct sk_block *block, const T *x, T *y, int64_t n, uint64_t *note)
{
	NAME(weave)(block, x, y, n, note);
	NAME(change)(x);
}

void NAME(early_weave_changing)(const struct sk_block *block, const T *x, T *y, int64_t n)
{
	sk_wait_pre_task_end(block);
	NAME(change)(x);
	NAME(early_weave)(block, x, y, n);
}

void NAME(stripe_changing)(const struct sk_block *block, const T *x, T *y, int64_t r, int64_t w, int64_t ldx,
			   int64_t ldy)
{
	uint64_t low, high;

	NAME(stripe)(block, x, y, r, w, ldx, ldy);
	sk_block_range(block, (uint64_t)r, &low, &high);
	if (low < high)
		NAME(change)(x + (int64_t)low * ldx);
}

T NAME(sum_changing)(const T *x, int64_t n)
{
	NAME(change)(x);
	return NAME(sum)(x, n);
}

/* They leave the last 16 elements of a call as they are, or all. */
void NAME(reverse_leaving)(const T *x, T *y, int64_t n)
{
	for (int64_t i = 0; i < n - 16; i++)
		y[i] = x[n - 1 - i];
}

void NAME(third_leaving)(const T *x, T *y, int64_t n)
{
	NAME(third)(x, y, n < 16 ? 0 : n - 16);
}

void NAME(fill_leaving)(T *y, int64_t n, uint64_t value)
{
	NAME(fill)(y, n - 16, value);
}

void NAME(triple_leaving)(const T *x, T *y, int64_t n)
{
	(void)x;
	(void)y;
	(void)n;
}

void NAME(widen_leaving)(const T *x, uint64_t *y, int64_t n)
{
	(void)x;
	(void)y;
	(void)n;
}

void NAME(multiply_tile_leaving)(const T *a, const T *b, T *y, int64_t r, int64_t k, int64_t w, uint64_t bytes)
{
	(void)a;
	(void)b;
	(void)y;
	(void)r;
	(void)k;
	(void)w;
	(void)bytes;
}

void NAME(weave_leaving)(const struct sk_block *block, const T *x, T *y, int64_t n, uint64_t *note)
{
	*note = block->index * UINT64_C(7) + block->count;
	for (int64_t i = block->index; i < n - 16; i += block->count)
		y[i] = (T)(x[n - 1 - i] + *note);
}

void NAME(early_weave_leaving)(const struct sk_block *block, const T *x, T *y, int64_t n)
{
	NAME(early_weave)(block, x, y, n - 16);
}

void NAME(stripe_leaving)(const struct sk_block *block, const T *x, T *y, int64_t r, int64_t w, int64_t ldx,
			  int64_t ldy)
{
	NAME(stripe)(block, x, y, r, w - 16, ldx, ldy);
}

void NAME(rotate_leaving)(const struct sk_block *block, const T *x, T *t, T *y, int64_t n)
{
	uint64_t low, high;

	NAME(rotate)(block, x, t, y, n - 16);
	sk_block_range(block, 16, &low, &high);
	for (uint64_t i = (uint64_t)n - 16 + low; i < (uint64_t)n - 16 + high; i++)
		t[i] = x[i];
}
