// Package rawptr is numerical computing on device addresses: BLAS products, convolutions,
// attention, reductions and elementwise functions on memory that the caller lays out. It is the
// surface for code that has pointers, leading dimensions and strides, and no tensors. Programs
// that want tensors use the root package, which runs the same operations and the same kernels.
//
//	dev := rawptr.New()
//	if err := dev.Init(ctx); err != nil {
//		return err
//	}
//	defer dev.Close()
//	x, err := dev.Alloc(4 * n)
//	err = dev.CopyHtoD(ctx, x, bytes)
//	err = dev.Unary(rawptr.ReLU, x, x, n)
//	err = dev.CopyDtoH(ctx, bytes, x)
//
// # Addresses
//
// A Ptr is an address in the memory of one device. It is no address of the host. p + n is valid
// everywhere a Ptr is, as long as it lies inside the allocation of p. Each range of bytes that a
// call names must lie in one allocation. If it does not, and for freed addresses and those of other
// devices, the error is ErrInvalidArgument, and nothing has been touched. There are unused addresses
// between two allocations, and a process never uses an address twice.
//
// Elements lie at addresses that are multiples of their size, counted from the start of the
// allocation. Copies from and to the host may begin at any byte. The fastest addresses are those
// that Alloc returns, and multiples of Capabilities.Alignment from there. From other ones
// operations may work on a copy.
//
// An operand without elements has no address that matters. Its Ptr may be anything.
//
// # Order and errors
//
// A Device is safe for concurrent callers. Calls take effect in the order in which they are made, each as a whole.
// Operations check their arguments before they allocate or run anything, and return once the work is
// submitted. CopyDtoH and Synchronize wait for it. They also return what only the device can see,
// such as an index out of range.
//
// Free may be called at any time. A call that has begun keeps the memory that it works on until it
// is submitted, and the device until that work is done. So the call ends as if Free had come later.
//
// An output may be the same memory as an input where a method says so. Any other overlap of an
// output with an operand is ErrInvalidArgument.
//
// # BLAS
//
// Gemm and its kin are the products of BLAS. The other functions of BLAS have the names that gonum gives
// them: S is F32, D is F64, which is ErrUnsupported on a device without float64. Matrices are in column-major
// order. Functions whose result is a number write it to an address. Increments are the elements from one
// element of a vector to the next. Where there are two vectors, an increment may be negative: the vector
// then begins at the last of its addresses, as in BLAS. No increment is 0. Inputs may overlap what is written:
// they are read before. A result that is a number may not. Operands that are not read, because a factor is 0, have
// addresses all the same. A product of a matrix without rows or columns and a vector changes nothing, whatever β is.
//
// Errors of all functions of BLAS: ErrInvalidArgument (sizes, increments, transposes, factors that are not finite, leading
// dimensions, range, overlap), ErrUnsupported, *LimitError, ErrOutOfMemory, ErrNotInitialized, ErrClosed.
//
// The errors of this package are those of package gpu and of the root package: errors.Is tells them apart.
package rawptr
