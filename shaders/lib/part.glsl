// A part of kernels that are linked at run time (docs/adr/0067). Its function `linked` is what
// package internal/spv/link takes out of the module. main calls it and no other function, because the compiler
// drops functions that nothing calls. Parameters are const, so that they are passed by value.
// The buffer is for that call only.

layout(set = 0, binding = 7) buffer AnyBuffer { REAL any_[]; };
