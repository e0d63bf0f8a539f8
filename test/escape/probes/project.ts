import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Facts, Probe, ProbeGroup } from './probe.ts';

/** The project was made on the host with `git init`, `.claude/settings.json`, `.mcp.json` and `.vscode/tasks.json`. */
function untouched(facts: Facts): void {
  const read = (path: string) => readFileSync(join(facts.workspace, path), 'utf8');
  expect(readdirSync(join(facts.workspace, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual([]);
  expect(read('.git/config')).not.toMatch(/pwned|fsmonitor/);
  expect([read('.claude/settings.json'), read('.mcp.json'), read('.vscode/tasks.json')]).toEqual(['{}', '{}', '{}']);
}

function isThere(facts: Facts, name: string): boolean {
  return lstatSync(join(facts.workspace, name), { throwIfNoEntry: false }) !== undefined;
}

const PROBES: readonly Probe[] = [
  {
    id: 45,
    name: 'write .git/hooks and .git/config',
    requirement: 'SEC-2.3',
    script: () =>
      'echo pwned >.git/hooks/post-checkout; echo pwned >>.git/config; git config core.fsmonitor pwned; rm -f .git/config; ls .git/hooks | grep -v sample; true',
    contained(seen, facts) {
      expect(seen.out).toBe('');
      untouched(facts);
    },
  },
  {
    id: 46,
    name: 'rename .git and make another',
    requirement: 'SEC-2.3',
    script: () =>
      'mv .git .git.old && mkdir -p .git/hooks && echo pwned >.git/hooks/post-checkout; rm -rf .git/hooks .git/config 2>/dev/null; mv .git/hooks .git/h2; mv .git/config .git/c2; true',
    contained: (_, facts) => untouched(facts),
  },
  {
    id: 47,
    name: 'write the settings of agents and editors',
    requirement: 'SEC-2.3',
    script: () =>
      'echo pwned >.claude/settings.json; echo pwned >.claude/settings.local.json; mv .claude .c2; rm -f .mcp.json; mv .mcp.json m2; echo pwned >.mcp.json; echo pwned >.vscode/tasks.json; mv .vscode v2; ls -A .claude',
    contained(seen, facts) {
      expect(seen.out).toBe('settings.json\n');
      untouched(facts);
    },
  },
  {
    id: 48,
    name: 'make dangerous names that were not there, nested ones too',
    requirement: 'SEC-2.3',
    script: () =>
      'mkdir -p sub/.git/hooks .idea && echo pwned >sub/.git/hooks/post-checkout; echo pwned >.envrc; echo pwned >.bashrc',
    async contained(seen, facts) {
      expect(seen.exitCode).toBe(0);
      expect(seen.quarantined).toEqual(expect.arrayContaining(['.bashrc', '.envrc']));
      for (const name of seen.quarantined) expect(isThere(facts, name), name).toBe(false);
      // A scan that could not finish before the answer continues in the background.
      for (const name of ['.idea', 'sub/.git/hooks/post-checkout'])
        await expect.poll(() => isThere(facts, name)).toBe(false);
    },
  },
  {
    id: 49,
    name: 'a hard link to a protected file',
    requirement: 'SEC-2.3',
    script: () =>
      'ln .git/config x1 && echo pwned >x1; ln .mcp.json x2 && echo pwned >x2; ln /usr/bin/env x3 && echo LINKED; ln -L .claude/settings.json x4 && echo pwned >x4; true',
    contained(seen, facts) {
      expect(seen.out).toBe('');
      untouched(facts);
    },
  },
  {
    id: 50,
    name: 'stay in /tmp and the home',
    requirement: 'SEC-2.3',
    script: () =>
      'echo pwned >~/.bashrc; echo pwned >/tmp/stays; echo pwned >/dev/shm/stays; echo pwned >/var/tmp/stays; ls ~/.bashrc',
    contained(seen) {
      expect(seen.out).toBe('/home/sandbox/.bashrc\n');
      for (const dir of ['/tmp', '/dev/shm', '/var/tmp']) expect(existsSync(join(dir, 'stays'))).toBe(false);
    },
  },
  {
    id: 51,
    name: 'find what an earlier run left there',
    requirement: 'SEC-2.3',
    script: ({ base }) => `ls -A /tmp | grep -v ${base.split('/')[2] ?? 'contextd'}; ls -A ~ /dev/shm /var/tmp`,
    contained: (seen) => expect(seen.out.replace('/dev/shm:\n', '').replace('/home/sandbox:\n', '').trim()).toBe(''),
  },
];

/** Probes 45 to 51. */
export const PROJECT: ProbeGroup = {
  name: 'the project’s dangerous names',
  control: {
    script: () =>
      'cat .claude/settings.json .mcp.json && git status --short -uno && echo x >note && mv note n2 && rm n2 && mkdir -p sub/dir && rmdir -p sub/dir && echo fine',
    works: (seen) => expect(seen).toMatchObject({ exitCode: 0, out: '{}{}fine\n', quarantined: [] }),
  },
  probes: PROBES,
};
