// Stores its push constants, the 128 bytes every Vulkan device has.
//
//lathe:variant u32
#version 450

layout(local_size_x = 1) in;

layout(push_constant) uniform Params {
	uint v0;
	uint v1;
	uint v2;
	uint v3;
	uint v4;
	uint v5;
	uint v6;
	uint v7;
	uint v8;
	uint v9;
	uint v10;
	uint v11;
	uint v12;
	uint v13;
	uint v14;
	uint v15;
	uint v16;
	uint v17;
	uint v18;
	uint v19;
	uint v20;
	uint v21;
	uint v22;
	uint v23;
	uint v24;
	uint v25;
	uint v26;
	uint v27;
	uint v28;
	uint v29;
	uint v30;
	uint v31;
} p;

layout(set = 0, binding = 0) writeonly buffer Data { uint data[]; };

void main() {
	data[0] = p.v0;
	data[1] = p.v1;
	data[2] = p.v2;
	data[3] = p.v3;
	data[4] = p.v4;
	data[5] = p.v5;
	data[6] = p.v6;
	data[7] = p.v7;
	data[8] = p.v8;
	data[9] = p.v9;
	data[10] = p.v10;
	data[11] = p.v11;
	data[12] = p.v12;
	data[13] = p.v13;
	data[14] = p.v14;
	data[15] = p.v15;
	data[16] = p.v16;
	data[17] = p.v17;
	data[18] = p.v18;
	data[19] = p.v19;
	data[20] = p.v20;
	data[21] = p.v21;
	data[22] = p.v22;
	data[23] = p.v23;
	data[24] = p.v24;
	data[25] = p.v25;
	data[26] = p.v26;
	data[27] = p.v27;
	data[28] = p.v28;
	data[29] = p.v29;
	data[30] = p.v30;
	data[31] = p.v31;
}
