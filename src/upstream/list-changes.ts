import type { ClientOptions } from '@modelcontextprotocol/client';
import type { Timer } from '../core/clock.ts';
import type { McpMessage } from '../core/passing.ts';

/** Milliseconds in which several announcements of a changed list count as one. */
const CHANGES_MS = 300;

export interface ListChangesDeps {
  /** Hears of each change. Absent: changes of resources and prompts count as those of tools. */
  readonly passing?: { onNotice(message: McpMessage): void };
  readonly timer: Timer;
  onToolsChanged(): void;
}

/** The SDK passes these on only if it is asked to, and a server of the newer revision sends them only then. */
export function listChanges({ passing, timer, onToolsChanged }: ListChangesDeps) {
  if (passing === undefined) {
    const changed = option(() => onToolsChanged(), CHANGES_MS);
    return { tools: changed, resources: changed, prompts: changed };
  }
  const announce = (list: string): void =>
    passing.onNotice({ method: `notifications/${list}/list_changed`, params: {} });
  const tools = (): void => {
    onToolsChanged();
    announce('tools');
  };
  const soon = (work: () => void) => option(atMostOnce(CHANGES_MS, timer, work), 0);
  return { tools: soon(tools), resources: soon(() => announce('resources')), prompts: soon(() => announce('prompts')) };
}

type Option = NonNullable<NonNullable<ClientOptions['listChanged']>['tools']> & { onChanged(): void };

/** With a debounce the SDK waits until no announcement comes for that long. */
function option(onChanged: () => void, debounceMs: number): Option {
  return { autoRefresh: false, debounceMs, onChanged };
}

/** Does the work at once, and for all calls that come less than `ms` later once more when that time is over. */
function atMostOnce(ms: number, timer: Timer, work: () => void): () => void {
  let isResting = false;
  let isWanted = false;
  return function request(): void {
    isWanted = isResting;
    if (isResting) return;
    isResting = true;
    // First, so that work that throws does not end all later announcements.
    timer.after(ms, () => {
      isResting = false;
      if (isWanted) request();
    });
    work();
  };
}
