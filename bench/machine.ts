import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInstallRoot } from '../src/config/install-root.ts';
import { runProcess } from './measure.ts';

/** A daemon and a project of their own, so that a benchmark neither sees nor disturbs the person's. */
export interface BenchInstallation {
  root: string;
  home: string;
  project: string;
  env: Record<string, string>;
  ctxd(...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

export async function installForBench(config: object): Promise<BenchInstallation> {
  const root = findInstallRoot();
  const home = mkdtempSync(join(tmpdir(), 'ctxb-'));
  const project = mkdtempSync(join(tmpdir(), 'bench-'));
  const env = { PATH: inheritedPath(), HOME: home, CONTEXTD_HOME: home };
  const ctxd = (...args: string[]): Promise<string> => runProcess(join(root, 'bin/ctxd'), args, { cwd: project, env });
  for (const [key, value] of Object.entries(config)) await ctxd('config', 'set', key, String(value));
  await ctxd('init');
  return {
    root,
    home,
    project,
    env,
    ctxd,
    async remove() {
      await ctxd('server', 'stop');
      rmSync(home, { recursive: true, force: true });
      rmSync(project, { recursive: true, force: true });
    },
  };
}

export function inheritedPath(): string {
  return process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin';
}

/** Resident memory of a process in MiB: now (`VmRSS`) or at most (`VmHWM`). Linux only; null elsewhere. */
export function residentMib(pid: number, field: 'VmRSS' | 'VmHWM'): number | null {
  try {
    const kib = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Math.round(Number(kib) / 102.4) / 10;
  } catch {
    return null;
  }
}
