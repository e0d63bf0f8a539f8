import { closeSync, constants, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isTerminal } from '#src/proxy/is-terminal.js';

const { O_NOCTTY, O_RDONLY, O_RDWR } = constants;

function isTerminalAt(path: string, flags: number): boolean {
  const descriptor = openSync(path, flags);
  try {
    return isTerminal(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

it('takes a terminal for one, and no other device, file or directory', () => {
  expect(isTerminalAt('/dev/ptmx', O_RDWR | O_NOCTTY)).toBe(true);
  expect(isTerminalAt('/dev/null', O_RDWR)).toBe(false);
  expect(isTerminalAt(import.meta.filename, O_RDONLY)).toBe(false);
  expect(isTerminalAt('/', O_RDONLY)).toBe(false);
});

it('takes a closed descriptor for no terminal', () => {
  const descriptor = openSync('/', O_RDONLY);
  closeSync(descriptor);
  expect(isTerminal(descriptor)).toBe(false);
});
