import type { CommandResult, CommandSpec, Sandbox, SandboxPolicy } from '#src/sandbox/sandbox.js';

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked'));

/** Answers commands with what a test says, for ends that no real command can be made to have. */
export class ScriptedSandbox implements Sandbox {
  /** The commands it was asked to run. */
  readonly commands: CommandSpec[] = [];
  readonly policies: SandboxPolicy[] = [];
  readonly #answer: (command: CommandSpec) => Promise<CommandResult>;

  constructor(answer: (command: CommandSpec) => Promise<CommandResult>) {
    this.#answer = answer;
  }

  launch = notAsked;
  start = notAsked;
  stop = notAsked;
  probe = notAsked;
  isolationFor = notAsked;
  open = notAsked;
  watch = notAsked;
  quarantine = notAsked;
  status = notAsked;

  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult> {
    this.policies.push(policy);
    this.commands.push(command);
    return this.#answer(command);
  }
}
