import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRequest } from '#src/call/request.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { acceptConfig } from '#src/config/load.js';
import { ensureDirectories, resolvePaths } from '#src/config/paths.js';
import { type Clock, systemClock, systemTimer, type Timer } from '#src/core/clock.js';
import { newRequestId } from '#src/core/ids.js';
import { startParts, stopParts } from '#src/core/lifecycle.js';
import { silentLogger } from '#src/core/log.js';
import { compose } from '#src/daemon/compose.js';
import type { Door } from '#src/doors/grpc/grpc.js';
import { acceptance } from '#src/features/projects/registered-projects.js';
import type { UpstreamServers } from '#src/upstream/contract.js';
import type { Answer } from './installation.ts';

export interface CallOptions {
  project?: string;
  session?: string;
  signal?: AbortSignal;
  onProgress?(text: string): void;
  /** Default: a new one. */
  requestId?: string;
  /** Default: false. */
  isAskedAgain?: boolean;
  /** Default: json. */
  form?: 'json' | 'text';
  /** Default: grpc. */
  door?: 'grpc' | 'shell';
}

/** The time that a test turns by hand. Nothing wakes by itself. */
export class HandTime {
  #aheadMs = 0;
  readonly #waits = new Map<() => void, number>();
  readonly clock: Clock = {
    now: () => systemClock.now() + this.#aheadMs,
    monotonic: () => systemClock.monotonic() + this.#aheadMs,
  };
  readonly timer: Timer = {
    after: (ms, wake) => {
      this.#waits.set(wake, ms);
      return () => this.#waits.delete(wake);
    },
  };

  /** Moves the clock, and wakes nothing. */
  move(ms: number): void {
    this.#aheadMs += ms;
  }

  /** The number of waits for exactly this time, in milliseconds. */
  waits(ms: number): number {
    return [...this.#waits.values()].filter((wait) => wait === ms).length;
  }

  /** Wakes what asked for a time between the two, in milliseconds. */
  wake(maxMs: number, minMs: number): void {
    for (const [wake, ms] of [...this.#waits]) if (ms <= maxMs && ms >= minMs && this.#waits.delete(wake)) wake();
  }
}

/** The daemon as it is composed, without a door: a call goes straight to its gate. */
export async function composeDaemon(settings: object, time?: HandTime, upstreams?: UpstreamServers) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'composed-')));
  const newProject = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'composed-project-')));
  const projects = [newProject(), newProject()] as const;
  const environment = { ...readEnvironment({ HOME: home }), contextdHome: join(home, 'ctx') };
  const paths = resolvePaths(environment, findInstallRoot());
  await ensureDirectories(paths);
  const config = acceptConfig('test', { scrub: { gitleaks: 'off' }, ...settings });
  const noDoor: Door = { name: 'no door', async prepare() {}, async start() {}, async stop() {}, connections: () => 0 };
  const { clock, timer } = time ?? { clock: systemClock, timer: systemTimer };
  const servers = upstreams === undefined ? {} : { upstreams };
  const deps = {
    environment,
    paths,
    config,
    clock,
    timer,
    logger: silentLogger,
    requestStop() {},
    endNow() {},
    leaveLog() {},
    ...servers,
  };
  const { parts, built } = compose(deps, noDoor);
  await startParts(parts, silentLogger);
  for (const root of projects) await built.projects.register(root, built.catalog.list().map(acceptance));
  const requestOf = (tool: string, input: object | string, options: CallOptions): CallRequest => ({
    requestId: options.requestId ?? newRequestId(Date.now()),
    principal: { door: options.door ?? 'grpc', client: 'proxy' },
    tool,
    projectRoot: options.project ?? projects[0],
    sessionHint: options.session ?? 'test',
    branchHint: '',
    inputJson: Buffer.from(typeof input === 'string' ? input : JSON.stringify(input)),
    inputText: null,
    form: options.form ?? 'json',
    cwd: options.project ?? projects[0],
    signal: options.signal ?? new AbortController().signal,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    ...(options.isAskedAgain === true ? { isAskedAgain: true } : {}),
  });
  const dispatch = (tool: string, input: object | string, options: CallOptions) =>
    built.gate.dispatch(requestOf(tool, input, options));
  return {
    ...built,
    /** HOME of the daemon. */
    personHome: home,
    project: projects[0],
    requestOf,
    otherProject: projects[1],
    async call(tool: string, input: object | string, options: CallOptions = {}): Promise<Answer> {
      return JSON.parse((await dispatch(tool, input, options)).line) as Answer;
    },
    /** What a command line prints. */
    async print(tool: string, input: object | string, options: CallOptions = {}): Promise<string> {
      const { text } = await dispatch(tool, input, { ...options, form: 'text' });
      return `${text?.stdout}${text?.stderr}`;
    },
    async remove(): Promise<void> {
      await stopParts(parts, silentLogger);
      for (const dir of [home, ...projects]) rmSync(dir, { recursive: true, force: true });
    },
  };
}

export type ComposedDaemon = Awaited<ReturnType<typeof composeDaemon>>;
