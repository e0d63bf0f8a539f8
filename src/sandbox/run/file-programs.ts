import { existsSync } from 'node:fs';
import type { SetAside } from '../../core/envelope.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { CommandSpec } from '../contract/command.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type { RestoreResult } from '../contract/sandbox.ts';
import type { RestoreReply } from '../contract/snapshot-messages.ts';
import type { OutputSink } from '../contract/stream-capture.ts';
import { COPY_WITHIN_MS, copyProgram, notCopied } from '../layers/copy.ts';
import { placeOf } from '../layers/place.ts';
import { mergeProgram } from '../merge/merge-program.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import type { OutputSinks } from './follow.ts';
import type { RunEnd, RunOptions } from './run-end.ts';

/** Time limit in milliseconds and output limit in bytes of contextd's own file programs. */
const OWN_WITHIN_MS = 300_000;
const OWN_OUTPUT_BYTES = 256 * 1024 * 1024;

interface OwnOutput {
  readonly output: string;
  readonly quarantined: readonly SetAside[];
}

/** Runs a command in a sandbox of the policy. */
type RunCommand = (
  policy: SandboxPolicy,
  command: CommandSpec,
  sinks: OutputSinks,
  options: RunOptions,
) => Promise<RunEnd>;

/**
 * contextd's own programs that change files of a workspace. Each runs like a command of the workspace, so the guard
 * checks what it wrote.
 */
export class FilePrograms {
  readonly #runCommand: RunCommand;
  readonly #snapshots: Snapshots;
  readonly #layersDir: string;

  constructor(runCommand: RunCommand, snapshots: Snapshots, layersDir: string) {
    this.#runCommand = runCommand;
    this.#snapshots = snapshots;
    this.#layersDir = layersDir;
  }

  /** `items`: `RestoreItem[]` as JSON. */
  async restore(policy: SandboxPolicy, items: Buffer): Promise<RestoreResult> {
    const { output, quarantined } = await this.#run(
      policy,
      this.#snapshots.restorer(policy.workspace.path),
      items,
      'putting files back',
    );
    const reply: RestoreReply = JSON.parse(output);
    return { ...reply, quarantined };
  }

  /** `request`: `MergeRequest` as JSON. The output is JSON too. */
  async merge(policy: SandboxPolicy, branch: string | null, request: Buffer): Promise<OwnOutput> {
    const { path } = policy.workspace;
    const layer = branch === null ? null : placeOf(this.#layersDir, path, branch);
    const written = layer === null ? null : existsSync(layer.copy) ? layer.copy : layer.upper;
    const program = mergeProgram(path, { branch: written, store: this.#snapshots.storeOf(path) });
    return this.#run(policy, program, request, 'merging files');
  }

  async #run(
    policy: SandboxPolicy,
    { mounts, argv }: { mounts: Mount[]; argv: string[] },
    stdin: Buffer,
    what: string,
  ): Promise<OwnOutput> {
    const out: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
    const sink = (stream: 'stdout' | 'stderr'): OutputSink => ({
      write(chunk) {
        out[stream].push(Buffer.from(chunk));
        return true;
      },
      onceDrained() {},
    });
    const command: CommandSpec = {
      argv,
      cwd: policy.workspace.path,
      env: {},
      stdin,
      timeoutMs: OWN_WITHIN_MS,
      outputMaxBytes: OWN_OUTPUT_BYTES,
      outputKillBytes: 0,
      signal: new AbortController().signal,
    };
    const sinks = { stdout: sink('stdout'), stderr: sink('stderr') };
    const end = await this.#runCommand(policy, command, sinks, { number: 0, steered: null, program: mounts });
    const words = Buffer.concat(out.stderr).toString().slice(-1_000);
    if (end.exitCode !== 0) throw new Error(`${what} ended by ${end.endedBy}: ${words}`);
    return { output: Buffer.concat(out.stdout).toString(), quarantined: end.quarantined };
  }

  /** Copies as a command would: files hidden from commands are not copied. */
  async copyInto(copy: string, outer: readonly string[], policy: SandboxPolicy, why: string): Promise<void> {
    const { path } = policy.workspace;
    const { program, argv } = copyProgram(copy);
    const sink: OutputSink = { write: () => true, onceDrained() {} };
    const command: CommandSpec = {
      argv,
      cwd: path,
      env: {},
      stdin: null,
      timeoutMs: COPY_WITHIN_MS,
      outputMaxBytes: 0,
      outputKillBytes: 0,
      signal: new AbortController().signal,
    };
    const view = { path, layer: outer.length === 0 ? null : outer };
    const options = { number: 0, steered: null, program };
    const end = await this.#runCommand(
      { ...policy, workspace: view },
      command,
      { stdout: sink, stderr: sink },
      options,
    );
    if (end.exitCode !== 0) throw notCopied(path, why, end.exitCode, end.endedBy);
  }
}
