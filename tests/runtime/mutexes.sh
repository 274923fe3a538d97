#!/bin/bash
# Kernels that lock: mutexes and pthread_once on cores at the same time. A core that is left with a lock takes the
# device along.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >locks.c <<'C'
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static volatile int64_t total, unit;

static void begin(void) { unit++; }
void reset(int64_t value) { total = value; }

/* Not in one instruction, so that cores without the lock would lose additions. */
void add(const int64_t *x, int64_t n)
{
	pthread_once(&once, begin);
	for (int64_t i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		for (int times = 0; times < 100; times++)
			total = total + x[i] * unit;
		pthread_mutex_unlock(&lock);
	}
}

void report(int64_t *y)
{
	pthread_mutex_t mine;
	pthread_mutex_init(&mine, NULL);
	pthread_mutex_lock(&mine);
	y[0] = total;
	pthread_mutex_unlock(&mine);
	pthread_mutex_destroy(&mine);
}

void fail(int64_t *y)
{
	pthread_mutex_lock(&lock);
	*(volatile int64_t *)16 = y[0];
	pthread_mutex_unlock(&lock);
}
C
$KERNEL_CC -O1 -fPIC -ffunction-sections -c locks.c -o locks.o
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i64, shape: [20000]}
  y: {dtype: i64, shape: [1]}
kernels:
  reset: {signature: "value i64"}
  add: {signature: "split=n reentrant; in x i64[n], n i64"}
  report: {signature: "out y i64[1]"}
tasks:
  - {name: first, kernel: reset, args: [], set: {value: 0}, scope: all}
  - {name: second, kernel: add, args: [x], after: first, scope: all}
  - {name: third, kernel: report, args: [y], after: second, scope: all}
M
cat >main.c <<'C'
#include <dlfcn.h>
int main(void)
{
	static long x[20000], y, sum;
	void *tensors[] = {x, &y}, *package = dlopen("./model.sk", RTLD_NOW);
	int (*serial)(void *const *, void *) = (int (*)(void *const *, void *))dlsym(package, "sk_all_serial");
	for (int i = 0; i < 20000; i++)
		sum += 100 * (x[i] = i % 91);
	return serial(tensors, 0) || y != sum;
}
C
$KERNEL_CC -O1 main.c -o main -ldl
"$sklink" model.yaml locks.o -o model.sk
./main || fail "the serial entry gives another sum"
"$skdump" --verify model.sk >out.txt || fail "skdump --verify"
for cores in 1 2 3 7; do
	"$skrun" model.sk --random 1 --verify --cores $cores >out.txt || { cat out.txt;
		fail "$cores cores lose additions"; }
done
"$skrun" model.sk --random 1 --guard --cores 3 >out.txt || fail "--guard"

# A fault while the lock is held: no later call could take it.
sed -i 's/kernel: report, args/kernel: fail, args/; s/^  report: .*/  fail: {signature: "inout y i64[1]"}/; s/shape: \[1\]/&, role: inout/' model.yaml
"$sklink" model.yaml locks.o -o fails.sk
fails_with "task 'third': kernel fail on core 0: segmentation fault .*; the package imports pthread_[a-z_]+, which may have held a lock: the device is lost" \
	"$skrun" fails.sk --random 1 --cores 2
