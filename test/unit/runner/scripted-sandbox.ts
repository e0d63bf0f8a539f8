import type { CommandResult, CommandSpec } from '#src/sandbox/contract/command.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import type { Sandbox } from '#src/sandbox/contract/sandbox.js';

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked'));

/** Answers commands as a test says, for endings that no real command can produce. */
export class ScriptedSandbox implements Sandbox {
  /** The requests it received. */
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
  begin = (): never => {
    throw new Error('not asked');
  };
  storage = notAsked;
  snapshot = notAsked;
  restore = notAsked;
  merge = notAsked;
  createLayer = notAsked;
  layerAbility = notAsked;
  removeLayer = notAsked;
  keepLayers = notAsked;
  tellEgress = (): void => {};

  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult> {
    this.policies.push(policy);
    this.commands.push(command);
    return this.#answer(command);
  }
}
