import { describe, expect, it } from 'vitest';
import { McpError } from '#src/core/passing.js';
import { SealedState } from '#src/features/upstreams/sealed-state.js';

describe('the state of a server that a client carries', () => {
  const states = new SealedState();
  const asked = { server: 'notes', addedMs: 7, state: '{"password":"value","step":"ünï"}' };

  it('issue 34: comes back as it was with the server that asked, and shows nothing of itself', () => {
    const sealed = states.seal(asked, 'me');
    expect(states.open(sealed, 'me')).toEqual(asked);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(/password|notes/);
    expect(states.seal(asked, 'me')).not.toBe(sealed);
    const stateless = { server: 'notes', addedMs: 7 };
    expect(states.open(states.seal(stateless, 'me'), 'me')).toEqual(stateless);
  });

  it('NFR-2.3: is opened and sealed by the daemon that replaced the one before', () => {
    const next = new SealedState();
    next.adopt(states.key);
    expect(next.open(states.seal(asked, 'me'), 'me')).toEqual(asked);
    expect(states.open(next.seal(asked, 'me'), 'me')).toEqual(asked);
  });

  it('issue 34: is refused if it was changed, cut, or sealed for another request or by another daemon', () => {
    const sealed = states.seal(asked, 'me');
    const changed = `${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`;
    for (const [given, owner] of [
      [changed, 'me'],
      [sealed.slice(0, 8), 'me'],
      ['', 'me'],
      [sealed, 'another'],
      [new SealedState().seal(asked, 'me'), 'me'],
    ] as const)
      expect(() => states.open(given, owner)).toThrow(McpError);
  });
});
