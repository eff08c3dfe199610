// Package spv reads and rewrites compute shaders in SPIR-V. Parse validates a module
// before a driver sees it and reflects what the module expects of its caller. Guard,
// Lower and Cooperative give the form of it that a driver is handed.
//
// # Stages
//
// The name of each file begins with its stage. Parse runs these:
//
//   - canonical: leaves one entry point called main, and nothing that means nothing to
//     the execution. Later stages see this form only.
//   - decode: cuts the words into instructions, finds what each id is, and builds the types
//     and the values of constants. Its type shader is what all other stages work with.
//   - flow: finds the functions and their blocks, and the graph of their branches with its
//     dominators, and checks its structure.
//   - check: checks everything else against the rules of SPIR-V and Vulkan. It uses types
//     and graph, and changes nothing.
//   - measure: counts what drivers spend memory and time on: variables, values, instructions,
//     iterations of loops.
//   - reflect: writes down what a launch must know: bindings, parameters, local size, what
//     the device must have. The function Reflect decodes the declarations and does only this,
//     for modules that are known to be valid.
//
// The others make new words of a module that Parse or Reflect has returned:
//
//   - guard: keeps indices in bounds and avoids what makes drivers fail. Both backends use it.
//   - lower: makes what WebGPU takes.
//   - cooperative: makes matrices of the KHR extension of those of NVIDIA's.
//   - link: makes a module of the functions of others.
//   - program: takes a module apart for a compiler, as package ir has it.
//   - rewrite: what guard and lower share: new types and constants, and operations on integers.
//   - assemble: makes a module of text, for tests.
//
// The file module has the result, and the file parse the exact order: some checks stand
// between decode and flow, which rely on them. Code that needs the graph of a module, such
// as a compiler, calls the same methods up to link.
//
// The stages are one package because they work on the same data. If checks and rewriting
// were packages of their own, decode and flow would have to export some 90 names and 120
// opcodes, and Parse would need the packages that stand on it.
package spv
