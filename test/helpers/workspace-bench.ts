import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '#src/core/clock.js';
import { type LogFields, type Logger, silentLogger } from '#src/core/log.js';
import { momentOf } from '#src/guard/contract/moment.js';
import type { Person } from '#src/guard/contract/person.js';
import type { Protection } from '#src/guard/contract/protection.js';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '#src/guard/contract/quarantine.js';
import { GuardEngine, type GuardEngineDeps } from '#src/guard/engine/guard-engine.js';
import type { Run } from '#src/guard/index/runs.js';
import { QuarantineLedger } from '#src/guard/quarantine/ledger.js';

const NOBODY: Person = { home: '/nonexistent', gitConfigs: [] };

export const GIT_ENV = {
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
};

/** A guard on the thread of the test, which gives it the clock. */
export class LocalGuard {
  readonly #engine: GuardEngine;
  readonly #clock: Clock;
  /** Called in each pause of long work, as requests are taken there. */
  onPause: () => void = () => {};

  constructor(
    settings: Pick<GuardEngineDeps, 'workspace' | 'deny' | 'person' | 'ledger' | 'ownDirectories'>,
    logger: Logger,
    clock: Clock,
  ) {
    this.#clock = clock;
    const pause = () => {
      this.onPause();
      this.#engine.answerReports();
    };
    this.#engine = new GuardEngine({ ...settings, logger, clock, pause, catchUp: () => {}, onSettled: () => {} });
  }

  protection(): Promise<Protection> {
    return answered((answer) => this.#engine.protection(answer));
  }

  /** `isSearched`: as a job is, while it goes on. */
  begin({ cover }: Protection, isSearched = true): Run {
    return this.#engine.begin(cover, momentOf(this.#clock), isSearched);
  }

  /** The sandbox is dead; what it changed is not searched yet. */
  end(run: Run): void {
    this.#engine.runs.end(run, momentOf(this.#clock));
  }

  finish(run: Run): Promise<QuarantineReport> {
    this.end(run);
    return answered((answer) => this.#engine.finish(run, answer));
  }

  /** Searches while runs go on, as for a job. */
  search(): Promise<null> {
    return answered((answer) => this.#engine.search(answer));
  }

  forget(run: Run): void {
    this.#engine.runs.settle(run);
  }

  quarantine(action: QuarantineAction): Promise<QuarantineResult> {
    return answered((answer) => this.#engine.quarantine(action, answer));
  }

  allowLinksTo(places: readonly string[]): void {
    this.#engine.setReadOnly(places);
  }

  accompany(trees: readonly string[]): void {
    this.#engine.setCompanions(trees);
  }

  settled(): Promise<void> {
    return new Promise((resolve) => this.#engine.whenSettled(resolve));
  }

  close(): void {
    this.#engine.close();
  }
}

function answered<T>(ask: (answer: PromiseWithResolvers<T>) => void): Promise<T> {
  const answer = Promise.withResolvers<T>();
  ask(answer);
  return answer.promise;
}

/** A report without ids and reasons: what was set aside, and not what was only reported. */
export interface PathReport {
  readonly quarantined: string[];
  readonly complete: boolean;
}

export interface Bench {
  readonly base: string;
  readonly workspace: string;
  /** Of contextd itself. */
  readonly own: string;
  /** The ledger of the workspace, read again from its file. */
  ledger(): QuarantineLedger;
  /** Runs a script on the host, in the workspace; throws when it fails. `try` ignores failure. */
  sh(script: string): string;
  try(script: string): string;
  guard(deny?: readonly string[], clock?: Clock, logger?: Logger, person?: Person): LocalGuard;
  /** begin, the script as what a tool did, finish. */
  run(guard: LocalGuard, script: string): Promise<PathReport>;
  /** Names in a directory of the workspace, quarantine ids cut off. */
  names(dir?: string): string[];
  /** Absolute paths of what is set aside outside the workspace, sorted by name. */
  stored(): string[];
  close(): void;
}

export function openBench(): Bench {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-guard-')));
  const workspace = join(base, 'w');
  const own = join(base, 'own/data');
  mkdirSync(workspace);
  mkdirSync(own, { recursive: true });
  const guards: LocalGuard[] = [];
  const bench: Bench = {
    base,
    workspace,
    own,
    ledger: () => new QuarantineLedger(join(base, 'state/ledger.json'), silentLogger, patientClock, workspace),
    sh: (script) => runScript(workspace, script, true),
    try: (script) => runScript(workspace, script, false),
    guard(deny = [], clock = patientClock, logger = silentLogger, person = NOBODY) {
      const guard = new LocalGuard(
        { workspace, deny, person, ledger: bench.ledger(), ownDirectories: [own] },
        logger,
        clock,
      );
      guards.push(guard);
      return guard;
    },
    async run(guard, script) {
      const watch = guard.begin(await guard.protection());
      bench.sh(script);
      return pathsOf(await guard.finish(watch));
    },
    names(dir = '.') {
      const names = readdirSync(join(workspace, dir));
      return names.map((name) => name.replace(/\.quarantined-[0-9a-f]{8}$/, '.quarantined')).sort();
    },
    stored() {
      const dir = join(base, 'state/ledger');
      const ids = existsSync(dir) ? readdirSync(dir) : [];
      const paths = ids.flatMap((id) => readdirSync(join(dir, id)).map((name) => join(dir, id, name)));
      return paths.sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
    },
    close() {
      for (const guard of guards) guard.close();
      spawnSync('chmod', ['-R', 'u+rwX', base]);
      chmodSync(base, 0o700);
      rmSync(base, { recursive: true, force: true });
    },
  };
  return bench;
}

export function pathsOf({ quarantined, complete }: QuarantineReport): PathReport {
  return { quarantined: quarantined.filter(({ stays }) => stays !== true).map(({ path }) => path), complete };
}

function runScript(cwd: string, script: string, mustPass: boolean): string {
  const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...GIT_ENV };
  const done = spawnSync('bash', ['-ec', script], { cwd, env, encoding: 'utf8' });
  if (mustPass && done.status !== 0) throw new Error(`${script}\nended with ${done.status}: ${done.stderr}`);
  return done.stdout + done.stderr;
}

/** Longer than a run's times are vague, so that what was made before counts as made before. */
export function letTimePass(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
}

/** A clock on which no budget ever ends. */
export const patientClock: Clock = { now: () => Date.now(), monotonic: () => 0 };

/** A clock on which every look costs a part of a millisecond, until `relax` is called. */
export function hastyClock(): Clock & { relax(): void } {
  let [elapsed, step] = [0, 0.2];
  const relax = () => {
    step = 0;
  };
  return { now: () => Date.now(), monotonic: () => (elapsed += step), relax };
}

export function recordingLogger(): { logger: Logger; events: { event: string; fields: LogFields }[] } {
  const events: { event: string; fields: LogFields }[] = [];
  const record = (event: string, fields: LogFields = {}) => void events.push({ event, fields });
  return { logger: { debug: record, info: record, warn: record, error: record }, events };
}
