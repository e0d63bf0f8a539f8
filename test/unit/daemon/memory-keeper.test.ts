import { describe, expect, it } from 'vitest';
import { memoryChore } from '#src/features/shared/chores.js';

function keeperOf(gate: { calls: number; active: number }) {
  const collected: string[] = [];
  const keeper = memoryChore({
    gate: { active: () => gate.active, answered: () => gate.calls },
    collectors: [() => collected.push('main'), () => collected.push('search')],
  });
  return { keeper, collected };
}

describe('the memory keeper', () => {
  it('NFR-1.4: frees memory once if no call came since the last check', () => {
    const { keeper, collected } = keeperOf({ calls: 0, active: 0 });
    keeper.run();
    keeper.run();
    keeper.run();
    expect(collected).toEqual(['main', 'search']);
  });

  it('NFR-1.4: does nothing during calls, and frees memory again after they have ended', () => {
    const gate = { calls: 0, active: 1 };
    const { keeper, collected } = keeperOf(gate);
    keeper.run();
    gate.active = 0;
    gate.calls = 1;
    keeper.run();
    expect(collected).toEqual([]);
    keeper.run();
    expect(collected).toEqual(['main', 'search']);
    gate.calls = 2;
    keeper.run();
    keeper.run();
    expect(collected).toEqual(['main', 'search', 'main', 'search']);
  });
});
