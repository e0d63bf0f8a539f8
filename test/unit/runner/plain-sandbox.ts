import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import type { CommandResult, CommandSpec, Sandbox, SandboxProcess } from '#src/sandbox/sandbox.js';

/** Runs tool processes as plain children, unconfined, so that the runner can be tried where no sandbox works. */
export class PlainSandbox implements Sandbox {
  /** Commands that were asked for. */
  readonly commands: CommandSpec[] = [];
  readonly processes: SandboxProcess[] = [];
  readonly #answer: (command: CommandSpec) => Promise<CommandResult>;

  constructor(answer: (command: CommandSpec) => Promise<CommandResult> = () => Promise.reject(new Error('no answer'))) {
    this.#answer = answer;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
  }

  probe = () => Promise.reject(new Error('not asked'));
  isolationFor = () => Promise.reject(new Error('not asked'));

  run(_policy: unknown, command: CommandSpec): Promise<CommandResult> {
    this.commands.push(command);
    return this.#answer(command);
  }

  async open(_policy: unknown, program: { bundleDir: string; entry: string }): Promise<SandboxProcess> {
    const child = spawn(process.execPath, [join(program.bundleDir, program.entry)], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: {},
    });
    const channel = child.stdio[3];
    if (!(channel instanceof Duplex) || child.stderr === null) throw new Error('no channel');
    const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
    const kill = async () => {
      child.kill('SIGKILL');
      await exited;
    };
    const opened = { channel, stderr: child.stderr, exited, kill };
    this.processes.push(opened);
    return opened;
  }
}
