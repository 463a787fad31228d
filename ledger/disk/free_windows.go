package disk

import "golang.org/x/sys/windows"

// freeBytes is how much a directory's volume can still take for this user.
func freeBytes(dir string) (uint64, bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	return free, windows.GetDiskFreeSpaceEx(path, &free, nil, nil) == nil
}
