package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/vk"
)

const (
	lvpJSON = `{"ICD":{"api_version":"1.3","library_path":"/usr/lib/libvulkan_lvp.so"},"file_format_version":"1.0.0"}`
	elf64   = "\x7fELF\x02"
	elf32   = "\x7fELF\x01"
	debian  = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n"
)

// own is the device of package cpu.
var own = gpu.Info{Name: "Acme, 2 workers", Driver: "wazero v1", Backend: "cpu", Kind: gpu.CPU}

// healthy is a Debian machine with a loader, lavapipe and an Intel GPU.
func healthy() (*system, fstest.MapFS) {
	root := fstest.MapFS{
		"etc/os-release":                          {Data: []byte(debian)},
		"usr/share/vulkan/icd.d/lvp_icd.json":     {Data: []byte(lvpJSON)},
		"usr/lib/libvulkan_lvp.so":                {Data: []byte(elf64)},
		"dev/dri/renderD128":                      {},
		"proc/version":                            {Data: []byte("Linux version 6.1.0")},
		"proc/1/cgroup":                           {Data: []byte("0::/init.scope\n")},
		"usr/lib/x86_64-linux-gnu/libintel.so":    {Data: []byte(elf64)},
		"usr/lib/i386-linux-gnu/libintel32.so":    {Data: []byte(elf32)},
		"usr/share/vulkan/icd.d/intel_icd.json":   {Data: []byte(`{"ICD":{"library_path":"libintel.so"}}`)},
		"usr/share/vulkan/icd.d/intel32_icd.json": {Data: []byte(`{"ICD":{"library_path":"libintel32.so"}}`)},
	}
	env := map[string]string{}
	s := &system{
		goos: "linux", root: root, uid: 1000, is64: true,
		env:    func(k string) string { return env[k] },
		usable: func(string) error { return nil },
		group:  func(string) string { return "render" },
		report: vk.Report{
			Built: true, LoaderPath: "/lib/libvulkan.so.1", InstanceVersion: "1.3.239",
			ICDFiles: []string{"/usr/share/vulkan/icd.d/lvp_icd.json", "/usr/share/vulkan/icd.d/intel_icd.json", "/usr/share/vulkan/icd.d/intel32_icd.json"},
			Devices:  []gpu.Info{{Name: "Intel Xe", Kind: gpu.Integrated}, {Name: "llvmpipe", Kind: gpu.CPU}},
			Env:      env,
		},
		kernel: func() (string, error) { return "Intel Xe", nil },
	}
	s.chooses = func(sel string) error { return fits(s.report.Devices, sel) }
	return s, root
}

// broken takes the devices away: what is wrong then is a failure, where beside
// a device that works it is a warning.
func broken(s *system) {
	s.report.Devices = nil
	s.report.Error = fmt.Errorf("vk: %w: nothing", gpu.ErrNoDevice)
}

func TestDoctor(t *testing.T) {
	denied := func(string) error { return &fs.PathError{Op: "open", Err: fs.ErrPermission} }
	for _, c := range []struct {
		name  string
		spoil func(s *system, root fstest.MapFS)
		want  []string // "state name: part of the detail -> part of the fix"
	}{
		{"healthy", func(*system, fstest.MapFS) {}, []string{
			"ok system: Debian GNU/Linux 12", "ok loader: 1.3.239", "ok drivers: lvp_icd.json, intel_icd.json, intel32_icd.json",
			"ok gpu: /dev/dri/renderD128", "ok device: 0: Intel Xe (integrated GPU)", "ok kernel: Intel Xe"}},
		{"no vulkan in the build", func(s *system, _ fstest.MapFS) { s.report = vk.Report{} }, []string{
			"fail vulkan: built without -> CGO_ENABLED=1"}},
		{"no loader on Debian", func(s *system, _ fstest.MapFS) {
			broken(s)
			s.report.LoaderPath, s.report.LoaderError = "", "libvulkan.so.1: cannot open\nmore"
		}, []string{"fail loader: not installed: libvulkan.so.1: cannot open -> sudo apt-get install -y libvulkan1 mesa-vulkan-drivers"}},
		{"no loader on Fedora as root", func(s *system, root fstest.MapFS) {
			broken(s)
			s.uid, s.report.LoaderPath = 0, ""
			root["etc/os-release"] = &fstest.MapFile{Data: []byte("ID=fedora\n")}
		}, []string{"fail loader: -> dnf install -y vulkan-loader"}},
		{"Arch's child", func(s *system, root fstest.MapFS) {
			broken(s)
			s.report.ICDFiles = nil
			root["etc/os-release"] = &fstest.MapFile{Data: []byte("ID=endeavouros\nID_LIKE='arch'\n")}
		}, []string{"fail drivers: no Vulkan driver -> pacman -S --needed vulkan-icd-loader"}},
		{"Alpine", func(s *system, root fstest.MapFS) {
			broken(s)
			s.report.ICDFiles = nil
			root["etc/os-release"] = &fstest.MapFile{Data: []byte("ID=alpine\n")}
		}, []string{"fail drivers: -> apk add vulkan-loader"}},
		{"SUSE", func(s *system, root fstest.MapFS) {
			broken(s)
			s.report.ICDFiles = nil
			root["etc/os-release"] = &fstest.MapFile{Data: []byte("ID=opensuse-leap\n")}
		}, []string{"fail drivers: -> zypper install"}},
		{"unknown Linux", func(s *system, root fstest.MapFS) {
			broken(s)
			s.report.ICDFiles = nil
			delete(root, "etc/os-release")
		}, []string{"ok system: linux", "fail drivers: -> your package manager"}},
		{"macOS", func(s *system, _ fstest.MapFS) {
			broken(s)
			s.goos, s.report.LoaderPath = "darwin", ""
		}, []string{"fail loader: -> brew install molten-vk"}},
		{"environment names nothing", func(s *system, _ fstest.MapFS) {
			broken(s)
			s.report.Env["VK_DRIVER_FILES"], s.report.ICDFiles = "/nope.json:/usr/share/vulkan/icd.d/lvp_icd.json", nil
		}, []string{"fail environment: VK_DRIVER_FILES: no such file: /nope.json -> unset VK_DRIVER_FILES, or"}},
		{"environment shadows", func(s *system, _ fstest.MapFS) {
			s.report.Env["VK_DRIVER_FILES"] = "/usr/share/vulkan/icd.d/lvp_icd.json"
			s.report.Env["VK_ICD_FILENAMES"] = "/other.json"
			s.report.Env["VK_LOADER_DRIVERS_DISABLE"] = "*intel*"
		}, []string{"warn environment: ignores VK_ICD_FILENAMES -> unset VK_ICD_FILENAMES", "ok environment: VK_DRIVER_FILES: the drivers are limited to /usr", "warn environment: hides drivers -> unset VK_LOADER_DRIVERS_DISABLE"}},
		{"old variable names nothing", func(s *system, _ fstest.MapFS) {
			broken(s)
			s.report.Env["VK_ICD_FILENAMES"] = "/nope.json"
		}, []string{"fail environment: VK_ICD_FILENAMES: no such file"}},
		{"both variables name nothing", func(s *system, _ fstest.MapFS) {
			broken(s)
			s.report.Env["VK_DRIVER_FILES"], s.report.Env["VK_ICD_FILENAMES"], s.report.ICDFiles = "/nope.json", "/nope.json", nil
		}, []string{"fail environment: VK_DRIVER_FILES, VK_ICD_FILENAMES: no such file: /nope.json -> unset VK_DRIVER_FILES VK_ICD_FILENAMES, or"}},
		{"environment names an empty folder", func(s *system, root fstest.MapFS) {
			broken(s)
			root["empty/.keep"] = &fstest.MapFile{}
			s.report.Env["VK_DRIVER_FILES"], s.report.ICDFiles = "/empty", nil
		}, []string{"fail drivers: VK_DRIVER_FILES names a folder without a driver manifest -> unset VK_DRIVER_FILES"}},
		{"library gone", func(s *system, root fstest.MapFS) {
			broken(s)
			delete(root, "usr/lib/libvulkan_lvp.so")
			delete(root, "usr/lib/x86_64-linux-gnu/libintel.so")
		}, []string{"ok drivers: intel32_icd.json", "fail drivers: lvp_icd.json: its library /usr/lib/libvulkan_lvp.so does not exist -> delete /usr/share/vulkan/icd.d/lvp_icd.json",
			"fail drivers: intel_icd.json: its library libintel.so does not exist"}},
		{"library gone, but another works", func(s *system, root fstest.MapFS) { delete(root, "usr/lib/libvulkan_lvp.so") }, []string{
			"warn drivers: lvp_icd.json: its library"}},
		{"library elsewhere", func(s *system, root fstest.MapFS) {
			s.report.Env["LD_LIBRARY_PATH"] = "/opt/x"
			root["usr/share/vulkan/icd.d/lvp_icd.json"].Data = []byte(`{"ICD":{"library_path":"libx.so"}}`)
			root["opt/x/libx.so"] = &fstest.MapFile{Data: []byte(elf64)}
			root["usr/share/vulkan/icd.d/intel_icd.json"].Data = []byte(`{"ICD":{"library_path":"../../../lib/libvulkan_lvp.so"}}`)
			root["etc/ld.so.conf.d/y.conf"] = &fstest.MapFile{Data: []byte("# y\n/opt/y\n")}
			root["opt/y/liby.so"] = &fstest.MapFile{}
			root["usr/share/vulkan/icd.d/intel32_icd.json"].Data = []byte(`{"ICD":{"library_path":"liby.so"}}`)
		}, []string{"ok drivers: lvp_icd.json, intel_icd.json, intel32_icd.json"}},
		{"manifest is rubbish", func(s *system, root fstest.MapFS) {
			broken(s)
			root["usr/share/vulkan/icd.d/lvp_icd.json"].Data = []byte("{")
		}, []string{"fail drivers: lvp_icd.json: it is not a driver manifest"}},
		{"not in the group", func(s *system, _ fstest.MapFS) { broken(s); s.usable = denied }, []string{
			"fail gpu: /dev/dri/renderD128 cannot be opened: permission denied -> sudo usermod -aG render $USER"}},
		{"only root may", func(s *system, _ fstest.MapFS) {
			broken(s)
			s.usable, s.group = denied, func(string) string { return "root" }
		}, []string{"fail gpu: -> chmod a+rw /dev/dri/renderD128"}},
		{"container without the group", func(s *system, root fstest.MapFS) {
			broken(s)
			root[".dockerenv"] = &fstest.MapFile{}
			s.usable, s.group = denied, func(string) string { return "109" }
		}, []string{"ok system: in a container (docker)", "fail gpu: -> --group-add 109"}},
		{"container without a GPU", func(s *system, root fstest.MapFS) {
			root["run/.containerenv"] = &fstest.MapFile{}
			delete(root, "dev/dri/renderD128")
		}, []string{"ok system: in a container (podman)", "warn gpu: no GPU is passed into this container -> --device /dev/dri"}},
		{"container by cgroup", func(s *system, root fstest.MapFS) {
			root["proc/1/cgroup"].Data = []byte("12:pids:/kubepods/besteffort\n")
		}, []string{"ok system: in a container (kubepods)"}},
		{"NVIDIA without graphics", func(s *system, root fstest.MapFS) {
			broken(s)
			root[".dockerenv"] = &fstest.MapFile{}
			s.report.Env["NVIDIA_VISIBLE_DEVICES"], s.report.Env["NVIDIA_DRIVER_CAPABILITIES"] = "all", "compute,utility"
		}, []string{"fail container: lacks graphics -> NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics"}},
		{"NVIDIA with graphics", func(s *system, root fstest.MapFS) {
			root[".dockerenv"], root["dev/nvidiactl"] = &fstest.MapFile{}, &fstest.MapFile{}
			s.report.Env["NVIDIA_DRIVER_CAPABILITIES"] = "compute,graphics"
		}, []string{"ok container: compute,graphics"}},
		{"no GPU", func(s *system, root fstest.MapFS) {
			delete(root, "dev/dri/renderD128")
			s.report.Devices = s.report.Devices[1:]
		}, []string{"warn gpu: the kernel shows no GPU", "warn device: only CPU drivers -> install its Vulkan driver"}},
		{"WSL", func(s *system, root fstest.MapFS) {
			delete(root, "dev/dri/renderD128")
			root["proc/version"].Data = []byte("Linux version 5.15-microsoft-standard-WSL2")
		}, []string{"ok system: in WSL", "warn gpu: WSL shows no GPU -> wsl --update"}},
		{"device cannot be used", func(s *system, _ fstest.MapFS) { s.report.Unusable = []string{"Old: Vulkan 1.0"} }, []string{
			"warn device: cannot be used: Old: Vulkan 1.0"}},
		{"another error", func(s *system, _ fstest.MapFS) {
			broken(s)
			s.report.Error = errors.New("driver exploded\nat once")
		}, []string{"fail device: driver exploded -> apt-get"}},
		{"selector fits nothing", func(s *system, _ fstest.MapFS) {
			s.choose = "radeon"
			s.kernel = func() (string, error) { return "", gpu.ErrNoDevice }
		}, []string{`fail device: "radeon", and no device fits -> unset LATHE_DEVICE`, "fail kernel: no usable device"}},
		{"our device alone", func(s *system, root fstest.MapFS) {
			broken(s)
			s.report.LoaderPath, s.cpu, s.backend = "", []gpu.Info{own}, "auto"
			delete(root, "dev/dri/renderD128")
		}, []string{"warn loader: not installed -> nothing to do without a GPU; if there is one: sudo apt-get", "warn gpu: the kernel shows no GPU", "ok cpu: Acme, 2 workers (wazero v1), without a driver", "ok backend: cpu: taken: no backend has hardware"}},
		{"our device is interpreted", func(s *system, _ fstest.MapFS) {
			slow := own
			slow.Driver = "wazero v1, interpreter"
			s.cpu = []gpu.Info{slow}
		}, []string{"warn cpu: interpreted -> use a GPU", "ok loader: 1.3.239"}},
		{"our device asked for", func(s *system, _ fstest.MapFS) {
			s.cpu, s.backend, s.choose, s.onlyCPU, s.report = []gpu.Info{own}, "auto", "cpu", true, vk.Report{}
			s.chooses = func(sel string) error { return fits(s.devices(), sel) }
		}, []string{"ok drivers: not looked at", "ok backend: cpu: --device or LATHE_DEVICE chose its device", "ok kernel: Intel Xe"}},
		{"our device left out", func(*system, fstest.MapFS) {}, []string{"warn cpu: built without -> without the tag nocpu"}},
		{"wrong result", func(s *system, _ fstest.MapFS) {
			s.kernel = func() (string, error) { return "Intel Xe", errors.New("wrong result: byte 3") }
		}, []string{"fail kernel: Intel Xe wrong result: byte 3 -> lathe verify"}},
		{"tuned", func(s *system, _ fstest.MapFS) { s.tune, s.choices = "full", 7 }, []string{"ok tuning: mode full, 7 choices"}},
		{"no such mode", func(s *system, _ fstest.MapFS) { broken(s); s.tune = "fast" }, []string{"fail tuning: LATHE_TUNE is -> unset LATHE_TUNE"}},
		{"stale shaders", func(s *system, _ fstest.MapFS) {
			s.kernel = func() (string, error) { return "", fmt.Errorf("x: %w", gpu.ErrABIMismatch) }
		}, []string{"fail kernel: -> build Lathe again"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, root := healthy()
			c.spoil(s, root)
			checks := s.checks()
			for _, w := range c.want {
				head, fix, _ := strings.Cut(w, " -> ")
				head, detail, _ := strings.Cut(head, ":")
				detail = strings.TrimSpace(detail)
				found := false
				for _, k := range checks {
					found = found || string(k.State)+" "+k.Name == head && strings.Contains(k.Detail, detail) && strings.Contains(k.Fix, fix)
				}
				if !found {
					t.Errorf("no row %q", w)
				}
			}
			fails := false
			for _, w := range c.want {
				fails = fails || strings.HasPrefix(w, "fail")
			}
			for _, k := range checks {
				if k.State == bad && !fails {
					t.Errorf("a needless failure: %+v", k)
				}
				if k.State != good && k.Fix == "" && k.Name != "gpu" && !strings.HasPrefix(k.Detail, "cannot be used") {
					t.Errorf("nothing to do about it: %+v", k)
				}
			}
			if len(s.report.Devices) == 0 && len(s.report.ICDFiles) == 0 && s.report.LoaderPath != "" {
				said := 0
				for _, k := range checks {
					if k.Name == "environment" && strings.Contains(k.Detail, "no such file") || k.Name == "drivers" || k.Name == "device" {
						said++
					}
				}
				if said != 1 {
					t.Errorf("%d rows say that there is no driver, want 1", said)
				}
			}
			if t.Failed() {
				for _, k := range checks {
					t.Logf("%+v", k)
				}
			}
		})
	}
}
