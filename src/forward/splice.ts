import type { Socket } from 'node:net';

/** Carries bytes both ways until both sides have ended; a broken side ends the other. */
export function splice(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to);
    from.once('error', () => to.destroy());
    from.once('close', () => to.destroySoon());
  }
}
