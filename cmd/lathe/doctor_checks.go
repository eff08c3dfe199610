package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
)

// fits reports whether selector selects one of the devices.
func fits(infos []gpu.Info, selector string) error {
	_, err := gpu.Choose(infos, selector)
	return err
}

// checks makes the report. If a device works, other problems are only warnings.
func (s *system) checks() []check {
	var list []check
	add := func(c ...check) { list = append(list, c...) }
	add(s.checkSystem())
	if len(s.built) > 0 { // checkBackend reports that there are none
		add(check{Name: "program", State: good, Detail: "has the backends " + strings.Join(s.built, ", ")})
	}
	if s.onlyCPU {
		add(check{Name: "drivers", State: good, Detail: "not looked at: the device cpu was asked for"})
	} else {
		add(s.checkVulkan()...)
	}
	add(s.checkCPU())
	add(s.checkChoice()...)
	if !s.onlyCPU {
		add(s.checkWebGPU()...)
	}
	add(s.checkBackend()...)
	add(s.checkTuning())
	works := false
	if len(s.devices()) > 0 {
		k := s.checkKernel()
		works = k.State == good
		add(k)
	}
	if works {
		for i := range list {
			if list[i].State == bad {
				list[i].State = odd
			}
		}
	}
	return list
}

// checkVulkan looks at Vulkan's loader, drivers and devices, and at what they need.
func (s *system) checkVulkan() []check {
	var list []check
	if s.report.Built {
		list = append(list, s.checkLoader())
		list = append(list, s.checkEnvironment()...)
		list = append(list, s.checkDrivers()...)
	} else {
		list = append(list, check{"vulkan", bad, "this program was built without Vulkan",
			"build it with cgo and a C compiler, without the tag novk: CGO_ENABLED=1 go build ./cmd/lathe"})
	}
	list = append(list, s.checkNodes()...)
	list = append(list, s.checkContainer()...)
	if s.report.Built {
		list = append(list, s.checkDevices()...)
	}
	return list
}

// checkCPU looks at the device of package cpu.
func (s *system) checkCPU() check {
	if len(s.cpu) == 0 {
		return check{"cpu", odd, "this program was built without the device that needs no driver", "build it without the tag nocpu"}
	}
	d := &s.cpu[0]
	if strings.Contains(d.Driver, "interpreter") {
		return check{"cpu", odd, d.Name + " (" + d.Driver + "): kernels are interpreted on this system, which is a hundred times slower", "use a GPU, or a system of amd64 or arm64"}
	}
	return check{Name: "cpu", State: good, Detail: d.Name + " (" + d.Driver + "), without a driver"}
}

// checkTuning says how plans choose among strategies.
func (s *system) checkTuning() check {
	mode, err := tune.ParseMode(s.tune)
	if s.tune == "" {
		mode, err = tune.Cached, nil
	}
	if err != nil {
		return check{"tuning", bad, fmt.Sprintf("%s is %q; it must be off, cached or full", tune.Env, s.tune), "unset " + tune.Env}
	}
	return check{"tuning", good, fmt.Sprintf("mode %v, %d choices remembered for the devices of this machine", mode, s.choices), ""}
}

func (s *system) read(name string) string {
	data, err := fs.ReadFile(s.root, strings.TrimPrefix(name, "/"))
	if err != nil {
		return ""
	}
	return string(data)
}

// stat follows what the file system has at an absolute path.
func (s *system) exists(name string) bool {
	_, err := fs.Stat(s.root, strings.TrimPrefix(path.Clean(name), "/"))
	// Links that leave a root are errors of another kind: something is there.
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

func (s *system) checkSystem() check {
	name := s.osRelease("PRETTY_NAME")
	if name == "" {
		name = s.goos
	}
	if s.wsl() {
		name += " in WSL"
	}
	if c := s.container(); c != "" {
		name += " in a container (" + c + ")"
	}
	return check{Name: "system", State: good, Detail: name}
}

// osRelease is a value of /etc/os-release.
func (s *system) osRelease(key string) string {
	for line := range strings.Lines(s.read("/etc/os-release")) {
		if v, ok := strings.CutPrefix(line, key+"="); ok {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}

func (s *system) wsl() bool {
	v := strings.ToLower(s.read("/proc/version"))
	return strings.Contains(v, "microsoft")
}

// container is the kind of container that this is, or "".
func (s *system) container() string {
	switch {
	case s.exists("/.dockerenv"):
		return "docker"
	case s.exists("/run/.containerenv"):
		return "podman"
	case s.env("KUBERNETES_SERVICE_HOST") != "":
		return "kubernetes"
	case s.env("container") != "":
		return s.env("container")
	}
	group := s.read("/proc/1/cgroup")
	for _, mark := range []string{"docker", "kubepods", "containerd", "lxc", "libpod"} {
		if strings.Contains(group, mark) {
			return mark
		}
	}
	return ""
}

// install is the command that installs the loader and a driver that works
// without a GPU.
func (s *system) install() string {
	switch s.goos {
	case "darwin":
		return "brew install molten-vk vulkan-loader"
	case "windows":
		return "install the graphics driver of your GPU's maker; it brings Vulkan"
	}
	sudo := "sudo "
	if s.uid == 0 {
		sudo = ""
	}
	ids := append([]string{s.osRelease("ID")}, strings.Fields(s.osRelease("ID_LIKE"))...)
	for _, id := range ids {
		switch {
		case id == "debian" || id == "ubuntu":
			return sudo + "apt-get update && " + sudo + "apt-get install -y libvulkan1 mesa-vulkan-drivers"
		case id == "fedora" || id == "rhel" || id == "centos":
			return sudo + "dnf install -y vulkan-loader mesa-vulkan-drivers"
		case id == "arch":
			return sudo + "pacman -S --needed vulkan-icd-loader vulkan-swrast   (with a GPU also vulkan-radeon, vulkan-intel or nvidia-utils)"
		case id == "alpine":
			return sudo + "apk add vulkan-loader mesa-vulkan-swrast   (with a GPU also mesa-vulkan-ati or mesa-vulkan-intel)"
		case strings.Contains(id, "suse"):
			return sudo + "zypper install libvulkan1 libvulkan_lvp"
		}
	}
	return "install the Vulkan loader (libvulkan.so.1) and Mesa's Vulkan drivers with your package manager"
}

// repair is install, but without a GPU there may be nothing to do.
func (s *system) repair() string {
	if s.goos == "linux" && len(s.cpu) > 0 && len(s.nodes()) == 0 {
		return "nothing to do without a GPU; if there is one: " + s.install()
	}
	return s.install()
}

func (s *system) checkLoader() check {
	r := &s.report
	if r.LoaderPath == "" {
		return check{"loader", bad, "the Vulkan loader is not installed: " + firstLine(r.LoaderError), s.repair()}
	}
	return check{Name: "loader", State: good, Detail: fmt.Sprintf("%s, Vulkan %s", r.LoaderPath, r.InstanceVersion)}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// checkEnvironment looks at the variables that name other drivers for the loader.
func (s *system) checkEnvironment() []check {
	var list []check
	files, names := s.env("VK_DRIVER_FILES"), s.env("VK_ICD_FILENAMES")
	if files != "" && names != "" && files != names {
		list = append(list, check{"environment", odd, "VK_DRIVER_FILES is set, so the loader ignores VK_ICD_FILENAMES", "unset VK_ICD_FILENAMES"})
		names = ""
	}
	variables := [][2]string{{"VK_DRIVER_FILES", files}, {"VK_ICD_FILENAMES", names}}
	if files == names { // the second is for old loaders
		variables = [][2]string{{"VK_DRIVER_FILES, VK_ICD_FILENAMES", files}}
	}
	for _, v := range variables {
		if v[1] == "" {
			continue
		}
		var missing []string
		for _, f := range strings.Split(v[1], s.listSeparator()) {
			if f != "" && !s.exists(f) {
				missing = append(missing, f)
			}
		}
		if len(missing) > 0 {
			list = append(list, check{"environment", bad, fmt.Sprintf("%s: no such file: %s", v[0], strings.Join(missing, ", ")),
				fmt.Sprintf("unset %s, or name a driver manifest that exists", strings.ReplaceAll(v[0], ",", ""))})
		} else {
			list = append(list, check{Name: "environment", State: good, Detail: fmt.Sprintf("%s: the drivers are limited to %s", v[0], v[1])})
		}
	}
	for _, v := range []string{"VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"} {
		if x := s.env(v); x != "" {
			list = append(list, check{"environment", odd, fmt.Sprintf("%s=%s hides drivers from the loader", v, x), "unset " + v + ", if a device is missing"})
		}
	}
	return list
}

func (s *system) listSeparator() string {
	if s.goos == "windows" {
		return ";"
	}
	return ":"
}

// checkDrivers looks into the driver manifests. Where checkEnvironment has said why there is
// none, it has nothing to add.
func (s *system) checkDrivers() []check {
	files := s.report.ICDFiles
	if s.goos == "windows" {
		return nil // drivers are in the registry there
	}
	if len(files) == 0 {
		if slices.ContainsFunc(s.checkEnvironment(), func(c check) bool { return c.State == bad }) {
			return nil
		}
		detail, fix := "no Vulkan driver is installed", s.repair()
		for _, v := range []string{"VK_ICD_FILENAMES", "VK_DRIVER_FILES"} {
			if s.env(v) != "" {
				detail, fix = v+" names a folder without a driver manifest", "unset "+v
			}
		}
		return []check{{"drivers", bad, detail, fix}}
	}
	var list []check
	var fine []string
	for _, f := range files {
		detail, fix := s.manifest(f)
		if detail == "" {
			fine = append(fine, path.Base(f))
			continue
		}
		list = append(list, check{"drivers", bad, f + ": " + detail, fix})
	}
	if len(fine) > 0 {
		list = append([]check{{Name: "drivers", State: good, Detail: strings.Join(fine, ", ")}}, list...)
	}
	return list
}

// manifest says what is wrong with a driver manifest. It returns "" for a good one.
func (s *system) manifest(file string) (detail, fix string) {
	data, err := fs.ReadFile(s.root, strings.TrimPrefix(file, "/"))
	if errors.Is(err, fs.ErrPermission) {
		return "it may not be read", fmt.Sprintf("sudo chmod a+r %s", file)
	}
	if err != nil {
		return "", "" // the file is outside of root (a link), so trust the loader
	}
	var m struct {
		ICD struct {
			Library string `json:"library_path"`
			Arch    string `json:"library_arch"`
		}
	}
	if err := json.Unmarshal(data, &m); err != nil || m.ICD.Library == "" {
		return "it is not a driver manifest", "install its package again, or delete it"
	}
	if m.ICD.Arch != "" && (m.ICD.Arch == "64") != s.is64 {
		return "", "" // for programs of the other word size, which the loader ignores
	}
	lib := m.ICD.Library
	var places []string
	switch {
	case path.IsAbs(lib):
		places = []string{lib}
	case strings.Contains(lib, "/"):
		places = []string{path.Join(path.Dir(file), lib)}
	default:
		for _, d := range s.libraryFolders() {
			places = append(places, path.Join(d, lib))
		}
	}
	i := slices.IndexFunc(places, s.exists)
	if i < 0 {
		return fmt.Sprintf("its library %s does not exist", lib), "install the driver's package again, or delete " + file
	}
	if class := s.read(places[i]); len(class) > 4 && strings.HasPrefix(class, "\x7fELF") && (class[4] == 2) != s.is64 {
		return "", "" // the other word size
	}
	return "", ""
}

// libraryFolders are most of the folders in which the dynamic linker looks.
func (s *system) libraryFolders() []string {
	var list []string
	for _, d := range strings.Split(s.env("LD_LIBRARY_PATH"), ":") {
		if d != "" {
			list = append(list, d)
		}
	}
	list = append(list, "/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/opt/homebrew/lib")
	for _, base := range []string{"usr/lib", "lib"} {
		multi, _ := fs.Glob(s.root, base+"/*-linux-*")
		for _, d := range multi {
			list = append(list, "/"+d)
		}
	}
	confs, _ := fs.Glob(s.root, "etc/ld.so.conf.d/*.conf")
	for _, c := range confs {
		for line := range strings.Lines(s.read(c)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				list = append(list, line)
			}
		}
	}
	return list
}

// nodes are the device nodes of GPUs.
func (s *system) nodes() (nodes []string) {
	for _, pattern := range []string{"dev/dri/renderD*", "dev/nvidia[0-9]*", "dev/kgsl-3d0", "dev/dxg"} {
		found, _ := fs.Glob(s.root, pattern)
		for _, f := range found {
			nodes = append(nodes, "/"+f)
		}
	}
	return nodes
}

// checkNodes looks for GPUs the kernel shows and whether this user may open them.
func (s *system) checkNodes() []check {
	if s.goos != "linux" {
		return nil
	}
	nodes := s.nodes()
	if len(nodes) == 0 {
		switch {
		case s.container() != "":
			return []check{{"gpu", odd, "no GPU is passed into this container",
				"if the host has a GPU, start the container with --device /dev/dri (AMD, Intel) or --gpus all (NVIDIA)"}}
		case s.wsl():
			return []check{{"gpu", odd, "WSL shows no GPU (/dev/dxg)", "install the GPU's driver on Windows, then: wsl --update"}}
		}
		return []check{{Name: "gpu", State: odd, Detail: "the kernel shows no GPU"}}
	}
	var list []check
	for _, n := range nodes {
		err := s.usable(n)
		if err == nil {
			list = append(list, check{Name: "gpu", State: good, Detail: n})
			continue
		}
		fix := ""
		if errors.Is(err, fs.ErrPermission) {
			g := s.group(n)
			switch {
			case s.container() != "":
				fix = fmt.Sprintf("start the container with --group-add %s, the group that owns %s", g, n)
			case g == "" || g == "root":
				fix = fmt.Sprintf("only root may open it: sudo chmod a+rw %s, and check the udev rules", n)
			default:
				fix = fmt.Sprintf("sudo usermod -aG %s $USER, then log in again", g)
			}
		}
		list = append(list, check{"gpu", bad, fmt.Sprintf("%s cannot be opened: %s", n, reason(err)), fix})
	}
	return list
}

// checkContainer looks for parts of a driver that a container does not have.
func (s *system) checkContainer() []check {
	if s.container() == "" {
		return nil
	}
	nvidia := s.env("NVIDIA_VISIBLE_DEVICES")
	if (nvidia == "" || nvidia == "void" || nvidia == "none") && !s.exists("/dev/nvidiactl") {
		return nil
	}
	caps := strings.Split(s.env("NVIDIA_DRIVER_CAPABILITIES"), ",")
	if slices.Contains(caps, "graphics") || slices.Contains(caps, "all") {
		return []check{{Name: "container", State: good, Detail: "NVIDIA driver capabilities: " + strings.Join(caps, ",")}}
	}
	return []check{{"container", bad, "NVIDIA_DRIVER_CAPABILITIES lacks graphics, so the NVIDIA Vulkan driver is not in this container",
		"start it with: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics …"}}
}

// checkDevices looks at the devices that Vulkan offers.
func (s *system) checkDevices() []check {
	r := &s.report
	var list []check
	cpus := true
	for i := range r.Devices {
		d := &r.Devices[i]
		list = append(list, check{Name: "device", State: good, Detail: fmt.Sprintf("%d: %s (%s)", i, d.Name, d.Kind)})
		cpus = cpus && d.Kind == gpu.CPU
	}
	for _, u := range r.Unusable {
		list = append(list, check{Name: "device", State: odd, Detail: "cannot be used: " + u})
	}
	if len(r.Devices) == 0 {
		if r.LoaderPath == "" || len(r.ICDFiles) == 0 && s.goos != "windows" {
			return list // the rows of loader, environment and drivers have said why
		}
		why := "no driver offers a device"
		if r.Error != nil && !errors.Is(r.Error, gpu.ErrNoDevice) {
			why = firstLine(r.Error.Error())
		}
		list = append(list, check{"device", bad, why, s.repair()})
		return list
	}
	if cpus {
		list = append(list, check{Name: "device", State: odd, Detail: "Vulkan has only CPU drivers: Lathe works, at the speed of this processor",
			Fix: "if this machine has a GPU, install its Vulkan driver"})
	}
	return list
}

func (s *system) checkKernel() check {
	device, err := s.kernel()
	if err != nil {
		fix := "try another device with --device, or another driver version; lathe verify tells more"
		if errors.Is(err, gpu.ErrABIMismatch) {
			fix = "build Lathe again: its shaders and its program have different versions"
		}
		if errors.Is(err, gpu.ErrNoDevice) {
			fix = "unset LATHE_DEVICE, or use an index, name or UUID that lathe devices lists"
		}
		return check{"kernel", bad, strings.TrimSpace(device + " " + firstLine(err.Error())), fix}
	}
	return check{Name: "kernel", State: good, Detail: "ran on " + device + " with the right result"}
}
