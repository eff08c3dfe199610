package vk

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// loaderNames are the names of the Vulkan library, in the order in which to try them.
func loaderNames() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"vulkan-1.dll"}
	case "darwin", "ios":
		return []string{"libvulkan.1.dylib", "libvulkan.dylib", "/opt/homebrew/lib/libvulkan.1.dylib", "/usr/local/lib/libvulkan.1.dylib", "libMoltenVK.dylib"}
	case "android":
		return []string{"libvulkan.so"}
	}
	return []string{"libvulkan.so.1", "libvulkan.so"} // the second is only in development packages
}

// loaderEnv are the environment variables that control the loader.
var loaderEnv = []string{
	"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES",
	"VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE",
	"VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "VK_LOADER_LAYERS_ENABLE",
	"LATHE_DEVICE", "LATHE_VK_STAGING",
}

// environment returns the variables of loaderEnv that are set.
func environment() map[string]string {
	env := map[string]string{}
	for _, k := range loaderEnv {
		if v, ok := os.LookupEnv(k); ok {
			env[k] = v
		}
	}
	return env
}

// searchDrivers lists the folders in which the loader looks for driver manifests, and the
// manifests in them. It follows the loader's documentation.
func searchDrivers() (folders, files []string) {
	for _, k := range []string{"VK_DRIVER_FILES", "VK_ICD_FILENAMES"} {
		if v := os.Getenv(k); v != "" {
			for _, f := range filepath.SplitList(v) {
				folders = append(folders, f)
				files = append(files, manifests(f)...)
			}
			return folders, files // these replace the usual folders
		}
	}
	for _, f := range filepath.SplitList(os.Getenv("VK_ADD_DRIVER_FILES")) {
		folders = append(folders, f)
		files = append(files, manifests(f)...)
	}
	if runtime.GOOS == "windows" {
		return append(folders, `the registry, HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers and the display adapters' keys`), files
	}
	home, _ := os.UserHomeDir()
	under := func(name, otherwise string) []string {
		v := os.Getenv(name)
		if v == "" {
			v = otherwise
		}
		return filepath.SplitList(v)
	}
	var bases []string
	bases = append(bases, under("XDG_CONFIG_HOME", filepath.Join(home, ".config"))...)
	bases = append(bases, under("XDG_CONFIG_DIRS", "/etc/xdg")...)
	bases = append(bases, "/etc")
	bases = append(bases, under("XDG_DATA_HOME", filepath.Join(home, ".local", "share"))...)
	bases = append(bases, under("XDG_DATA_DIRS", "/usr/local/share"+string(filepath.ListSeparator)+"/usr/share")...)
	if runtime.GOOS == "darwin" {
		bases = append(bases, "/opt/homebrew/share", "/opt/homebrew/etc")
	}
	for _, b := range bases {
		dir := filepath.Join(b, "vulkan", "icd.d")
		if slices.Contains(folders, dir) {
			continue
		}
		folders = append(folders, dir)
		files = append(files, manifests(dir)...)
	}
	return folders, files
}

// manifests returns path itself if it is a file, or the manifests in it.
func manifests(path string) []string {
	st, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !st.IsDir() {
		return []string{path}
	}
	found, _ := filepath.Glob(filepath.Join(path, "*.json"))
	return found
}

// misled says that a variable keeps the loader from every driver, or "".
func misled() string {
	for _, k := range []string{"VK_DRIVER_FILES", "VK_ICD_FILENAMES"} { // as searchDrivers
		if v := os.Getenv(k); v != "" {
			for _, f := range filepath.SplitList(v) {
				if _, err := os.Stat(f); err == nil {
					return ""
				}
			}
			return k + " names no file that exists: unset it, or name a driver manifest"
		}
	}
	return ""
}

// lookedFor is the part of an error that says what was searched and how to get a device.
func lookedFor() string {
	var b strings.Builder
	folders, files := searchDrivers()
	fmt.Fprintf(&b, "\n  loader: %s", strings.Join(loaderNames(), ", "))
	fmt.Fprintf(&b, "\n  drivers looked for in: %s", strings.Join(folders, ", "))
	if len(files) == 0 {
		b.WriteString("\n  drivers found: none")
	} else {
		fmt.Fprintf(&b, "\n  drivers found: %s", strings.Join(files, ", "))
	}
	env := environment()
	for _, k := range loaderEnv {
		if v, ok := env[k]; ok {
			fmt.Fprintf(&b, "\n  environment: %s=%s", k, v)
		}
	}
	if misled() != "" {
		return b.String()
	}
	b.WriteString("\n  to get one: ")
	switch runtime.GOOS {
	case "windows":
		b.WriteString("install the graphics driver of your GPU's maker")
	case "darwin":
		b.WriteString("brew install vulkan-loader molten-vk")
	default:
		b.WriteString("install your GPU's Vulkan driver, or a CPU one: apt-get install libvulkan1 mesa-vulkan-drivers (Debian, Ubuntu); dnf install vulkan-loader mesa-vulkan-drivers (Fedora); apk add vulkan-loader mesa-vulkan-swrast (Alpine)")
	}
	return b.String()
}
