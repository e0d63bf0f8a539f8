import { describe, expect, it } from 'vitest';
import { createMemoryKeeper } from '#src/daemon/memory-keeper.js';

function keeperOf(gate: { calls: number; active: number }) {
  const collected: string[] = [];
  const keeper = createMemoryKeeper({
    gate: { active: () => gate.active, answered: () => gate.calls },
    collectors: [() => collected.push('main'), () => collected.push('search')],
  });
  return { keeper, collected };
}

describe('the memory keeper', () => {
  it('NFR-1.4: frees memory once if no call came since the last check', () => {
    const { keeper, collected } = keeperOf({ calls: 0, active: 0 });
    keeper.look();
    keeper.look();
    keeper.look();
    expect(collected).toEqual(['main', 'search']);
  });

  it('NFR-1.4: does nothing during calls, and frees memory again after they have ended', () => {
    const gate = { calls: 0, active: 1 };
    const { keeper, collected } = keeperOf(gate);
    keeper.look();
    gate.active = 0;
    gate.calls = 1;
    keeper.look();
    expect(collected).toEqual([]);
    keeper.look();
    expect(collected).toEqual(['main', 'search']);
    gate.calls = 2;
    keeper.look();
    keeper.look();
    expect(collected).toEqual(['main', 'search', 'main', 'search']);
  });
});
