import { fstatSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

/**
 * Whether a descriptor is a terminal. To ask `node:tty` costs the compiled program three milliseconds, with the garbage
 * collection that follows, so it is asked about devices only: an agent's descriptors are pipes and files.
 */
export function isTerminal(descriptor: number): boolean {
  return isDevice(descriptor) && process.getBuiltinModule('node:tty').isatty(descriptor);
}

function isDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}
