package conformance
import ("testing";"github.com/lathe-gpu/lathe/spec";"fmt";"github.com/lathe-gpu/lathe/gpu";"github.com/lathe-gpu/lathe/gpu/null";"time")
func TestCountX(t *testing.T){
	info := null.DefaultInfo()
	info.Kind, info.Memory = gpu.CPU, 1<<40
	l := &info.Limits
	l.MaxBuffer, l.MaxBinding, l.MaxTexels, l.MaxTexelBuffers, l.OffsetAlign, l.TexelAlign = 1<<40, 1<<30, 1<<27, 16, 16, 16
	l.MaxInvocations, l.MaxLocalSize = 1024, [3]uint32{1024, 1024, 64}
	info.Features.F64 = true
 for _,q:=range []int{0,1,2}{
  s := &suite{opts: Options{Ops: spec.All(),Quick:q!=1,Pairs:true,Seed:DefaultSeed}, report: &Report{Backend: "vk"}}
  for i, v := range Variants(&info) {
		if q==2&&i>1 || q==0&&i>=5 {break}
		ln, err := newLane(null.NewRecorder(&info), v, s.opts)
		if err != nil { t.Fatal(err) }
		s.lanes = append(s.lanes, ln)
  }
  begin:=time.Now()
  js:=s.jobs(); modes:=0; per:=map[string]int{}; pe:=map[string]int64{}
  var el int64
  for i := range js { n:=len(js[i].lanes); if n==0{n=len(s.lanes)}; m:=len(js[i].modes)*n; modes+=m; per[js[i].op.Name]+=m; for _,d:=range js[i].inputs(){el+=int64(d.Elems()); pe[js[i].op.Name]+=int64(d.Elems())} }
  fmt.Println("quick",q,"lanes",len(s.lanes),"ops",len(spec.All()),"jobs",len(js),"runs",modes,"elems",el,time.Since(begin))
  for k,v:=range per{fmt.Print(k,":",v,"/",pe[k]/1000,"k ")}
  fmt.Println()
 }
}
