// Grids of one dimension, folded into three where one has too few groups.

uint flatGroup() {
	return (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
