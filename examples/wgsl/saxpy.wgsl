// y = a·x + y
struct Params {
	n: u32, // elements
	a: f32,
}

var<push_constant> params: Params;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < params.n) {
		y[id.x] = params.a * x[id.x] + y[id.x];
	}
}
