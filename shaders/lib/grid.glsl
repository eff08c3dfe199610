// Grids of one dimension. They become grids of three dimensions where one dimension of the
// device has too few groups.

uint flatGroup() {
	return (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
