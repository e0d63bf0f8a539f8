const KEPT_OPEN = /^timeout=(\d+)$/;

/**
 * Headers of an answer after which the connection stays open for longer than after others. A client that heeds them, as `fetch`
 * of Node does, closes it when it ends, and not when it is idle.
 */
export function keptOpen(ms: number): Record<string, string> {
  return { 'keep-alive': `timeout=${Math.floor(ms / 1_000)}` };
}

/** The milliseconds that an answer says; 0 if it says none. */
export function keptOpenMs(headers: Headers): number {
  return 1_000 * Number(KEPT_OPEN.exec(headers.get('keep-alive') ?? '')?.[1] ?? 0);
}
