import { connect } from 'node:net';
import { HOOKS, type HookName } from './hook-input.ts';

// Runs a hook as its client calls it. Little is loaded before it is known that a daemon listens, because most of the time of
// a short process is loading, and a hook is never in the way of the agent.

/** Milliseconds after which a hook ends, whatever it waits for. */
const HOOK_LIMIT_MS = 6_000;

/** A hook without options, as `ctxd init` has clients call it. */
interface HookCall {
  name: HookName;
  path: string | undefined;
}

/** Null for every other command line. */
export function hookIn([command, name, path, ...rest]: readonly string[]): HookCall | null {
  const hook = HOOKS.find((one) => one === name);
  if (command !== 'hook' || hook === undefined || path?.startsWith('-') === true || rest.length > 0) return null;
  return { name: hook, path };
}

/** Prints what the client shows its model. `socket`: of the daemon; undefined if there can be none. */
export async function runHook({ name, path }: HookCall, socket: string | undefined): Promise<void> {
  setTimeout(() => process.exit(0), HOOK_LIMIT_MS).unref();
  process.stdout.on('error', () => {});
  if (socket === undefined || !(await hasListener(socket))) return;
  const [{ createContext }, { answerHook }] = await Promise.all([import('../context.ts'), import('./answer-hook.ts')]);
  try {
    const context = createContext(process, process.cwd(), new AbortController().signal);
    const { text } = await answerHook(name, context, path);
    // A connection to a daemon that hangs would keep the process alive.
    process.stdout.write(text, () => process.exit(0));
  } catch {
    // Such as a current directory that was removed.
  }
}

function hasListener(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.on('connect', () => resolve(true));
    connection.on('error', () => resolve(false));
    connection.on('connect', () => connection.destroy());
  });
}
