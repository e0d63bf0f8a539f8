import type { Duplex, Readable } from 'node:stream';
import type { SetAside } from '../../core/envelope.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CommandSpec, RunRef, SteeredCommand } from './command.ts';
import type { Sandbox } from './sandbox.ts';

/** What the next daemon needs to go on with the spawner. Plain data. */
export interface SpawnerState {
  readonly pid: number;
  /** Bytes of a message that has not arrived completely. */
  readonly rest: Buffer;
  /** The next daemon numbers its requests from here on. */
  readonly firstId: number;
  /** Run number → the call or job that it runs for. */
  readonly refs: readonly (readonly [number, RunRef])[];
  /** Numbers of the runs that the next daemon resumes. */
  readonly taken: readonly number[];
  /** What earlier daemons have started and that goes on, by number. */
  readonly started: readonly (readonly [number, StartedKind])[];
}

/** A command ends with its reply, a program with an event after it. */
export type StartedKind = 'run' | 'open';

/** Messages between two daemons about the spawner. */
export interface SpawnerFrames {
  send(header: object, body?: Buffer): void;
}

/** A run that goes on. */
export type ResumedRun = Pick<CommandSpec, 'signal' | 'onOutput' | 'run'> & { readonly number: number };

/** Goes on with a run of the daemon before, in a project. */
export interface Resuming {
  resume(project: string, run: ResumedRun, onFound: (found: readonly SetAside[]) => void): SteeredCommand;
}

/**
 * How one spawner serves several daemons in turn. The daemon that has its socket passes on what earlier daemons ask, whose calls
 * still run, and what the spawner replies to them. A number says whose a request is.
 */
export interface SpawnerHeritage {
  /** For the next daemon to inherit. Null if no spawner runs. */
  streams(): readonly [Duplex, Readable] | null;
  /** True if the spawner is the one that an earlier daemon started. */
  readonly isInherited: boolean;
  /** True if the spawner has work to do, also for what a person does: undo, a restore or a merge. */
  readonly isBusy: boolean;
  /** True if programs that stay open run, such as MCP servers. */
  readonly hasPrograms: boolean;
  /**
   * The next daemon has inherited the streams: from now on everything goes through it. `take` is called once nothing arrives here any
   * more, and returns the runs that the next daemon resumes.
   */
  leave(next: SpawnerFrames, take: () => Promise<readonly number[]>): Promise<SpawnerState>;
  /** Call in a daemon that has left: with what the spawner replied, and when the spawner is gone. */
  receive(header: JsonObject, body: Buffer): void;
  lost(): void;
  /** Call in the next daemon before anything is started. `earlier`: takes replies to earlier daemons. */
  adopt(state: SpawnerState, earlier: SpawnerFrames): void;
  /** Call in the next daemon instead, if the spawner has ended: closes the streams. */
  disown(): void;
  /** Call in the next daemon with what an earlier daemon asks. */
  pass(header: JsonObject, body: Buffer): void;
  /** Call in the next daemon when the earlier one is gone: ends what it had started, and returns when it has ended. */
  forget(): Promise<void>;
  /** Goes on with a steered run of an earlier daemon. */
  resume(run: ResumedRun, onFound: (found: readonly SetAside[]) => void): SteeredCommand;
  /** Ends an inherited spawner in which nothing runs. The next request starts a new one. */
  renew(): Promise<void>;
}

export interface InheritableSandbox extends Sandbox {
  /** Absent: everything that runs ends with the daemon. */
  readonly heritage?: SpawnerHeritage;
}
