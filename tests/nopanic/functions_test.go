package nopanic

import (
	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/hir"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/rawptr"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// functions are all exported functions by package folder: those of every public package, but for
// the excused ones, and those of internal packages that public ones hand their arguments to.
// TestFunctionsAreListed finds what is missing.
var functions = map[string]map[string]any{
	".": {
		"Devices": lathe.Devices, "Open": lathe.Open,
		"FromFloats": lathe.FromFloats[float32], "FromSlice": lathe.FromSlice[float32], "FromRows": lathe.FromRows[float32], "FromImage": lathe.FromImage, "ToImage": lathe.ToImage,
		"ReadInto": lathe.ReadInto[float32], "Scalar": lathe.Scalar[float64], "ToRows": lathe.ToRows[float32],
		"ToFloats": lathe.ToFloats[float32], "ToSlice": lathe.ToSlice[float32],
		"WithBackend": lathe.WithBackend, "WithCloseTimeout": lathe.WithCloseTimeout, "WithCacheDir": lathe.WithCacheDir, "WithDevice": lathe.WithDevice,
		"WithGPU": lathe.WithGPU, "WithReplay": lathe.WithReplay, "WithStrip": lathe.WithStrip, "WithTrace": lathe.WithTrace,
		"WithTuneMode": lathe.WithTuneMode, "WithTuning": lathe.WithTuning, "WithValidation": lathe.WithValidation,
		"WithLogger": lathe.WithLogger, "WithoutCache": lathe.WithoutCache,
	},
	"backend": {"Names": backend.Names, "New": backend.New, "Open": backend.Open, "OpenExplained": backend.OpenExplained},
	"graph":   {"Compile": graph.Compile, "FromMIR": graph.FromMIR, "New": graph.New, "NewWithDims": graph.NewWithDims, "Passes": graph.Passes, "Scalar": graph.Scalar[float64]},
	"graph/hir": {
		"Adam": hir.Adam, "Angles": hir.Angles, "Attention": hir.Attention, "Linear": hir.Linear, "LlamaBlock": hir.LlamaBlock, "ResidualLayerNorm": hir.ResidualLayerNorm,
		"ResidualRMSNorm": hir.ResidualRMSNorm, "RoPE": hir.RoPE, "SGD": hir.SGD, "SwiGLU": hir.SwiGLU,
	},
	"graph/mir": {"NewRewriter": mir.NewRewriter, "Optimise": mir.Optimise},
	"graph/lir": {"Link": lir.Link, "Schedule": lir.Schedule},
	"rawptr":    {"AvailableDevices": rawptr.AvailableDevices, "New": rawptr.New, "NewNull": rawptr.NewNull, "NewRegistry": rawptr.NewRegistry, "WithBackend": rawptr.WithBackend, "WithDevice": rawptr.WithDevice, "WithGPU": rawptr.WithGPU},
	"tensor": {
		"BF16FromFloat64": tensor.BF16FromFloat64, "BF16ToFloat32": tensor.BF16ToFloat32,
		"F16FromFloat64": tensor.F16FromFloat64, "F16ToFloat32": tensor.F16ToFloat32,
		"DTypes": tensor.DTypes, "ParseDType": tensor.ParseDType,
		"Contiguous": tensor.Contiguous, "FromFloats": tensor.FromFloats, "NewHost": tensor.NewHost,
	},
	"value": {
		"Array": value.Array, "Boolean": value.Boolean, "Eval": value.Eval, "Float": value.Float, "Handle": value.Handle,
		"Integer": value.Integer, "Object": value.Object, "Ops": value.Ops, "String": value.String,
	},
	"gpu": {
		"CheckModule": gpu.CheckModule, "CloseTimeout": gpu.CloseTimeout, "CheckRange": gpu.CheckRange, "CheckSize": gpu.CheckSize, "Choose": gpu.Choose,
		"Describe": gpu.Describe, "DispatchCompute": gpu.DispatchCompute, "DispatchRanges": gpu.DispatchRanges, "Label": gpu.Label, "OnlyCPU": gpu.OnlyCPU, "Rank": gpu.Rank, "Selector": gpu.Selector, "ModuleEntries": gpu.ModuleEntries, "ModuleEntry": gpu.ModuleEntry, "ParseModule": gpu.ParseModule, "RoundUp": gpu.RoundUp,
		"StartTrace": gpu.StartTrace, "Prepare": gpu.Prepare, "CloneList": gpu.CloneList, "Replaced": gpu.Replaced,
	},
	"internal/abi": {"Fingerprint": abi.Fingerprint, "NewTableKernel": abi.NewTableKernel, "Parse": abi.Parse},
	"internal/spv": {
		"Assemble": spv.Assemble, "Cooperative": spv.Cooperative, "Entries": spv.Entries, "Entry": spv.Entry, "Guard": spv.Guard, "Lower": spv.Lower, "NewLinker": spv.NewLinker,
		"LoadsOf": spv.LoadsOf, "NewEpilogue": spv.NewEpilogue, "NewPrologue": spv.NewPrologue, "NewStoring": spv.NewStoring, "PartSize": spv.PartSize, "ReadsStored": spv.ReadsStored, "StoresOf": spv.StoresOf,
		"InstructionName": spv.InstructionName, "Parse": spv.Parse, "ParseAccess": spv.ParseAccess, "ParseKind": spv.ParseKind, "Program": spv.Program, "Reflect": spv.Reflect,
	},
	"imageio/avif":   {}, // it gives imageio a codec
	"imageio":        {"Decode": imageio.Decode, "DecodeConfig": imageio.DecodeConfig, "DetectFormat": imageio.DetectFormat, "Encode": imageio.Encode, "EncodeFrames": imageio.EncodeFrames, "NewDecoder": imageio.NewDecoder, "ParseFormat": imageio.ParseFormat},
	"internal/batch": {"IsPicture": batch.IsPicture, "OpenPicture": batch.OpenPicture, "Save": batch.Save, "ParseFormat": batch.ParseFormat, "Find": batch.Find, "Plan": batch.Plan, "ReadPicture": batch.ReadPicture, "ReadStream": batch.ReadStream, "Run": batch.Run},
	"spec": {
		"All": spec.All, "AppendClass": spec.AppendClass, "AppendKey": spec.AppendKey, "Define": spec.Define[ops.Abs], "Status": spec.Status, "CheckParams": spec.CheckParams, "Encode": spec.Encode, "FindIdiom": spec.FindIdiom,
		"FormatBrief": spec.FormatBrief, "FormatCall": spec.FormatCall, "Gradients": spec.Gradients, "Given": spec.Given[float64], "In": spec.In,
		"Layout": spec.Layout, "Lookup": spec.Lookup, "Out": spec.Out, "PlacesOf": spec.PlacesOf, "ParseCall": spec.ParseCall, "ParseCalls": spec.ParseCalls,
		"ParseOp": spec.ParseOp, "PictureDesc": spec.PictureDesc, "Resolve": spec.Resolve, "As": spec.As[*ops.Abs], "Pictures": spec.Pictures, "ReadPictures": spec.ReadPictures, "Scratch": spec.Scratch, "ShaderTable": spec.ShaderTable,
		"Table": spec.Table, "VerifyABI": spec.VerifyABI, "WithDefaults": spec.WithDefaults[spec.Call],
	},
	"internal/exec": {
		"New": exec.New, "TargetOf": exec.TargetOf, "Verify": exec.Verify, "WithTarget": exec.WithTarget,
		"WithTrace": exec.WithTrace, "WithTuning": exec.WithTuning, "WithChecksOf": exec.WithChecksOf,
	},
	"handles":  {"New": handles.New[int]},
	"imageops": {"AtLeast": imageops.AtLeast, "ForGrey": imageops.ForGrey, "ForOpaque": imageops.ForOpaque, "ForShrunk": imageops.ForShrunk, "Fuse": imageops.Fuse, "Halo": imageops.Halo, "Need": imageops.Need, "ParseCube": imageops.ParseCube, "ParseProfile": imageops.ParseProfile, "Part": imageops.Part, "Size": imageops.Size},
	"ops":      {},
	"conformance": {
		"CheckKernels": conformance.CheckKernels, "HashResults": conformance.HashResults, "Known": conformance.Known, "ParseExpectations": conformance.ParseExpectations,
		"ParseHashes": conformance.ParseHashes, "PlainMode": conformance.PlainMode, "PublishedHashes": conformance.PublishedHashes, "Run": conformance.Run, "Sample": conformance.Sample,
		"Table": conformance.Table, "TinyLimits": conformance.TinyLimits, "Variants": conformance.Variants, "WebGPULimits": conformance.WebGPULimits,
	},
	"cpu":         {"Enumerate": cpu.Enumerate, "List": cpu.List, "Open": cpu.Open},
	"vk":          {"Enumerate": vk.Enumerate, "List": vk.List, "Open": vk.Open, "Probe": vk.Probe},
	"wgpu":        {"Enumerate": wgpu.Enumerate, "List": wgpu.List, "Open": wgpu.Open, "Probe": wgpu.Probe},
	"gpu/gputest": {},
	"ops/all":     {},
	"gpu/guard":   {"New": guard.New, "Restrict": guard.Restrict},
	"spirv":       {"ABIText": spirv.ABIText, "Declared": spirv.Declared, "Fingerprint": spirv.Fingerprint, "Kernel": spirv.Kernel, "LinkBLAS": spirv.LinkBLAS, "LinkFused": spirv.LinkFused, "LinkImage": spirv.LinkImage, "LinkLogic": spirv.LinkLogic, "LinkMath": spirv.LinkMath, "LinkMove": spirv.LinkMove, "LinkNN": spirv.LinkNN, "LinkQuant": spirv.LinkQuant, "LinkRandom": spirv.LinkRandom, "LinkReduce": spirv.LinkReduce, "Module": spirv.Module, "Names": spirv.Names, "Operation": spirv.Operation, "Part": spirv.Part, "Usable": spirv.Usable, "Verify": spirv.Verify},
}

// excused panic by intent. The functions that register panic as the standard library's do: on a
// mistake of the program's text, at its start. The suite of devices does so on a nil
// *testing.T, by which it reports everything. Its other arguments are tested beside it.
var excused = []string{"backend.Register", "spec.Register", "gpu/gputest.Run", "gpu/gputest.Padding"}
