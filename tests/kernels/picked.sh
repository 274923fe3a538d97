# Tasks that name MatMul, Conv, pools and their like get the kernel that was made for their shapes, out of
# libskernels.a, and nothing is a tie; each of them computes the same bits however it is divided.
. "$top_srcdir/tests/lib/lib.sh"

cat >operators.yaml <<'M'
sklink: 1
tensors:
  a: {dtype: f32, shape: [20, 100]}
  a1: {dtype: f32, shape: [1, 100]}
  b: {dtype: f32, shape: [100, 70]}
  b1: {dtype: f32, shape: [100, 1]}
  bp: {dtype: f32, shape: [5, 100, 16]}
  ub: {dtype: u32, shape: [100, 70]}
  up: {dtype: u32, shape: [5, 100, 16]}
  y: {dtype: f32, shape: [20, 70]}
  yp: {dtype: f32, shape: [20, 70]}
  y1: {dtype: f32, shape: [1, 70]}
  y1p: {dtype: f32, shape: [1, 70]}
  yc: {dtype: f32, shape: [20, 1]}
  x: {dtype: f32, shape: [2, 6, 20, 20]}
  f: {dtype: f32, shape: [8, 6, 3, 3]}
  fd: {dtype: f32, shape: [6, 1, 3, 3]}
  bias: {dtype: f32, shape: [8]}
  z: {dtype: f32, shape: [2, 8, 20, 20]}
  zn: {dtype: f32, shape: [2, 8, 20, 20]}
  zd: {dtype: f32, shape: [2, 6, 20, 20]}
  p: {dtype: f32, shape: [2, 6, 10, 10]}
  ft: {dtype: f32, shape: [6, 4, 2, 2]}
  t: {dtype: f32, shape: [2, 4, 40, 40]}
  ua: {dtype: u8, shape: [20, 100]}
  ib: {dtype: i8, shape: [100, 70]}
  iy: {dtype: i32, shape: [20, 70]}
tasks:
  - {name: pack, op: PackMatMulB, args: [ub, up]}
  - {name: plain, op: MatMul, args: [a, b, y]}
  - {name: packed, op: MatMul, attr: {packed: 1}, args: [a, bp, yp]}
  - {name: row, op: MatMul, args: [a1, b, y1]}
  - {name: rowp, op: MatMul, attr: {packed: 1}, args: [a1, bp, y1p]}
  - {name: column, op: MatMul, args: [a, b1, yc]}
  - {name: conv, op: Conv, attr: {spatial: 2, strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1]}, args: [x, f, bias, z]}
  - {name: convn, op: Conv, attr: {spatial: 2, group: 1, strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1]}, args: [x, f, null, zn]}
  - {name: convd, op: Conv, attr: {spatial: 2, group: 6, strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1]}, args: [x, fd, null, zd]}
  - {name: pool, op: MaxPool, attr: {spatial: 2, kernel_shape: [2, 2], strides: [2, 2], pads: [0, 0, 0, 0], dilations: [1, 1]}, args: [x, p, null]}
  - {name: transposed, op: ConvTranspose, attr: {spatial: 2, group: 1, strides: [2, 2], pads: [0, 0, 0, 0], dilations: [1, 1]}, args: [x, ft, t]}
  - {name: integer, op: MatMulInteger, args: [ua, ib, null, null, iy]}
M
"$sklink" operators.yaml -L "$top_builddir/kernels" -lskernels --isa x86-64-v3 -o operators.sk
"$skdump" --steps operators.sk | awk '$4 == "core" { print $2, $3 }' >picked.txt
cat >expected.txt <<'T'
pack sk_packmatmulb_u32_straight
plain sk_matmul_f32_one_straight_straight_v3
packed sk_matmul_f32_one_straight_packed_v3
row sk_matmul_f32_left_straight_v3
rowp sk_matmul_f32_left_packed_v3
column sk_matmul_f32_right_straight_v3
conv sk_conv_f32_2_groups_v3
convn sk_conv_f32_2_groups_v3
convd sk_conv_f32_2_channels_v3
pool sk_maxpool_f32_2_v3
transposed sk_convtranspose_f32_2_without_v3
integer sk_matmulinteger_i32_u8_i8_one_straight_v3
T
diff expected.txt picked.txt || fail "other kernels are picked"
grep -qw avx2 /proc/cpuinfo || { echo "SKIP: the processor has no avx2"; exit 77; }
"$skrun" operators.sk --random 1 --check-split >out.txt 2>&1 || { cat out.txt; fail "other bits in parts"; }
grep -q '12 of 12 tasks' out.txt || { cat out.txt; fail "not all are divided"; }
