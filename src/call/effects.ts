/**
 * What a call may do to project files, through the tool's process and the commands it runs. Enforced for installed
 * tools: unless it is `write`, both see the project read-only.
 */
export const FILE_EFFECTS = ['none', 'read', 'write'] as const;
export type FileEffect = (typeof FILE_EFFECTS)[number];

interface SessionEffectRow {
  /** Who may declare it: every tool, or only core tools, because the daemon acts on it. */
  readonly mayState: 'every tool' | 'core tools';
  /** False if the calls read or change the session's own record rather than do work. */
  readonly isWork: boolean;
  /** True if lessons are distilled from the calls. */
  readonly teaches: boolean;
  /** True if the calls of core tools have no effects: one whose answer was lost may run again. */
  readonly isRepeatable: boolean;
}

/** The role of a call in its session: one row per value of `effects.session` in tool.json. */
export const SESSION_EFFECTS = {
  /** Work of any kind. */
  work: { mayState: 'every tool', isWork: true, teaches: true, isRepeatable: false },
  /** Work: runs the shell command in its `command` argument. */
  command: { mayState: 'every tool', isWork: true, teaches: true, isRepeatable: false },
  /** Work: changes the file named by its `path` argument, and returns that `path`. */
  edit: { mayState: 'every tool', isWork: true, teaches: true, isRepeatable: false },
  /** Reads something the work is about, such as a file. */
  look: { mayState: 'every tool', isWork: true, teaches: false, isRepeatable: true },
  /** Reads or changes the session's record. */
  record: { mayState: 'core tools', isWork: false, teaches: false, isRepeatable: false },
  /** Shows stored outputs of other tools, and continues the answers of all tools. */
  view: { mayState: 'core tools', isWork: false, teaches: false, isRepeatable: true },
  /** Is the call of another tool, which the arguments name: every step, rule and record is about that tool. */
  execute: { mayState: 'core tools', isWork: false, teaches: false, isRepeatable: false },
  /** Asks at session start how to continue. */
  start: { mayState: 'core tools', isWork: false, teaches: false, isRepeatable: false },
  /** Ends the branch it is called in, so it works on the parent's files. The host records its changes. */
  return: { mayState: 'core tools', isWork: false, teaches: false, isRepeatable: false },
  /** Restores files to a checkpoint. The host records its changes. */
  restore: { mayState: 'core tools', isWork: false, teaches: false, isRepeatable: false },
  /** Searches, stores or rates memories. */
  memory: { mayState: 'core tools', isWork: false, teaches: false, isRepeatable: false },
} as const satisfies Record<string, SessionEffectRow>;
export type SessionEffect = keyof typeof SESSION_EFFECTS;

/** `effects` of tool.json: what a tool's calls do. Code that depends on the tool depends on this, never on a name. */
export interface ToolEffects {
  readonly files: FileEffect;
  readonly session: SessionEffect;
}

/** The effects of a tool that declares none: it may do anything to files, and its calls are work. */
export const DEFAULT_EFFECTS: ToolEffects = { files: 'write', session: 'work' };

/** Whether a call of a core tool has no effects, so that one whose answer was lost may run again. */
export function isRepeatable({ files, session }: ToolEffects): boolean {
  return files !== 'write' && SESSION_EFFECTS[session].isRepeatable;
}

export const SESSION_EFFECT_NAMES: readonly SessionEffect[] = namesOf(SESSION_EFFECTS);

/** Returns null for an unknown name. */
export function sessionEffectOf(name: unknown): SessionEffect | null {
  return SESSION_EFFECT_NAMES.find((one) => one === name) ?? null;
}

function namesOf<Name extends string>(rows: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(rows) as Name[];
}
