import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, cpSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

const MIB = 1024 * 1024;

/** Only root can mount. */
export const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
/** ext4 is the file system that the kernel itself makes read-only, also while files are open for writing. */
export const canMountExt4 =
  canMount &&
  spawnSync('sh', ['-c', 'command -v mkfs.ext4 && losetup -f && grep -w ext4 /proc/filesystems']).status === 0;

/** A file system of its own in place of a directory. */
export interface Disk {
  unmount(): void;
}

/** Moves a directory to a tmpfs. What uses it must not run. */
export function onSmallDisk(directory: string, bytes: number): Disk {
  return moved(directory, () => mount('-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', directory));
}

/** Moves a directory to an ext4 file system in an image beside it. What uses it must not run. */
export function onExt4(directory: string): Disk & { breakDown(): void; repair(): Promise<void> } {
  const image = join(dirname(directory), 'disk.img');
  execFileSync('truncate', ['-s', '64M', image]);
  execFileSync('mkfs.ext4', ['-q', image]);
  const disk = moved(directory, () => mount('-o', 'loop', image, directory));
  return {
    ...disk,
    /** As the kernel does after an error of the disk: every write fails with EROFS from now on. */
    breakDown() {
      // What is not on the disk yet would be gone, as after a loss of power.
      execFileSync('sync', ['-f', directory]);
      mount('-o', 'remount,abort', directory);
    },
    /** What uses the disk must not run. */
    async repair() {
      await expect.poll(() => spawnSync('umount', [directory]).status).toBe(0);
      // A sandbox of another test may have the broken file system among its mounts: the same image would be that one again.
      const repaired = `${image}.repaired`;
      cpSync(image, repaired);
      spawnSync('fsck.ext4', ['-p', repaired]);
      mount('-o', 'loop', repaired, directory);
    },
  };
}

function moved(directory: string, mountIt: () => void): Disk {
  const copy = `${directory}.copy`;
  cpSync(directory, copy, { recursive: true });
  mountIt();
  cpSync(copy, directory, { recursive: true });
  rmSync(copy, { recursive: true });
  execFileSync('sync', ['-f', directory]);
  // Processes of the daemon that end after it may still have files open.
  return { unmount: () => void execFileSync('umount', ['--lazy', directory]) };
}

function mount(...args: string[]): void {
  execFileSync('mount', args);
}

/** Writes until the disk has no byte left. */
export function fill(file: string): void {
  const fd = openSync(file, 'w');
  try {
    for (let size = MIB; size >= 512; ) {
      try {
        writeSync(fd, Buffer.alloc(size));
      } catch {
        size /= 2;
      }
    }
  } finally {
    closeSync(fd);
  }
}
