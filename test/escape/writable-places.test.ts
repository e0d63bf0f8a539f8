import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

/** One line of mountinfo(5). */
interface Mounted {
  readonly device: string;
  /** The directory of the file system that is mounted. */
  readonly root: string;
  readonly at: string;
  readonly isWritable: boolean;
  /** What an overlay is made of. */
  readonly options: string;
}

function parse(mountinfo: string): Mounted[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [own = '', superblock = ''] = line.split(' - ');
    const [, , device, root, at, flags] = own.split(' ');
    if (device === undefined || root === undefined || at === undefined) return [];
    const isWritable = flags?.split(',').includes('rw') === true;
    return [{ device, root, at, isWritable, options: superblock }];
  });
}

/** Where the host has a directory of a file system; empty if nowhere. */
function onHost({ device, root }: Mounted, host: readonly Mounted[]): string[] {
  return host
    .filter((one) => one.device === device && `${root}/`.startsWith(one.root === '/' ? '/' : `${one.root}/`))
    .map((one) => join(one.at, one.root === '/' ? root : root.slice(one.root.length)));
}

describe.each(whoCanRun())('every directory of the host that a command can write, %s', (who) => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench(who);
  });
  afterEach(() => bench.close());

  test('SEC-2.3: is searched like the project, or a link to it is set aside', async () => {
    bench.host('git init -q . && git config user.name a && mkdir kept');
    const policy: Partial<SandboxPolicy> = { storage: { session: 's' }, network: 'project', git: 'working' };
    const { out } = await bench.bash('cat /proc/self/mountinfo', {}, policy);
    const host = parse(readFileSync('/proc/self/mountinfo', 'utf8'));
    const writable = parse(out).filter(({ isWritable }) => isWritable);
    const places = writable.flatMap((mounted) => onHost(mounted, host)).filter((path) => path !== '/');
    const unsearched = [...new Set(places)].filter((path) => `${path}/`.startsWith(`${bench.workspace}/`) === false);
    // HOME, /tmp and the caches at least; otherwise this test proves nothing.
    expect(unsearched.length).toBeGreaterThanOrEqual(3);
    const script = unsearched.map((path, i) => `ln -s '${path}' kept/link${i}`).join('; ');
    const { raw, quarantined } = await bench.bash(script, {}, policy);
    expect(quarantined.sort()).toEqual(unsearched.map((_, i) => `kept/link${i}`).sort());
    expect(raw.quarantined.some(({ stays }) => stays === true)).toBe(false);
    for (const [i] of unsearched.entries())
      expect(lstatSync(join(bench.workspace, `kept/link${i}`), { throwIfNoEntry: false })).toBeUndefined();
  });
});
