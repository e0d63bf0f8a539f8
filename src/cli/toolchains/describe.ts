import { posix } from 'node:path';
import { isBelow } from '../../core/paths.ts';
import type { Toolchain__Output as Toolchain } from '../../protocol/generated/management.ts';

/** `pyenv: /home/ann/.pyenv/{bin, shims, versions}`. */
export function summarizeToolchain({ name, mounts }: Toolchain): string {
  const parent = commonParent(mounts);
  if (mounts.length === 0) return name;
  const inner = mounts.map((mount) => posix.relative(parent, mount));
  const what = mounts.length === 1 ? mounts[0] : `${parent}/{${inner.join(', ')}}`;
  return what === name ? name : `${name}: ${what}`;
}

/** One or two lines for each toolchain, indented. */
export function describeToolchains(toolchains: readonly Toolchain[]): string[] {
  return toolchains.flatMap((toolchain) => {
    const variables = Object.entries(toolchain.variables).map(([name, value]) => `${name}=${value}`);
    return [
      `  ${summarizeToolchain(toolchain)}`,
      ...(variables.length === 0 ? [] : [`    with ${variables.join(', ')}`]),
    ];
  });
}

/** The innermost directory that holds all paths. */
function commonParent(paths: readonly string[]): string {
  let parent = posix.dirname(paths[0] ?? '/');
  while (parent !== '/' && !paths.every((path) => isBelow(parent, path))) parent = posix.dirname(parent);
  return parent;
}
