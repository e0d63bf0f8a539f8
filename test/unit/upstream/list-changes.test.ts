import { expect, it } from 'vitest';
import { listChanges } from '#src/upstream/list-changes.js';

/** The announcements of a server, as clients of the surface passthrough hear them. */
function heard(failing = 0) {
  let left = failing;
  const notices: string[] = [];
  const waits: (() => void)[] = [];
  const timer = {
    after(_ms: number, wake: () => void) {
      waits.push(wake);
      return () => {};
    },
  };
  let reads = 0;
  const lists = listChanges({
    passing: {
      onNotice({ method }) {
        left -= 1;
        if (left >= 0) throw new Error('a listener failed');
        notices.push(method);
      },
    },
    timer,
    onToolsChanged() {
      reads += 1;
    },
  });
  const announce = (list: keyof typeof lists, times: number): void => {
    for (let time = 0; time < times; time++) lists[list].onChanged();
  };
  return {
    notices,
    announce,
    reads: () => reads,
    pass: () => {
      for (const wake of waits.splice(0)) wake();
    },
  };
}

it('issue 34: of 10,000 announcements that a list changed, clients hear the first at once and one later', () => {
  const { notices, announce, pass } = heard();
  announce('resources', 10_000);
  expect(notices).toEqual(['notifications/resources/list_changed']);
  pass();
  expect(notices).toHaveLength(2);
  pass();
  expect(notices).toHaveLength(2);
  announce('resources', 1);
  expect(notices).toHaveLength(3);
});

it('issue 34: announcements without an end are heard once in each span of time, and each list by itself', () => {
  const { notices, announce, pass, reads } = heard();
  for (let span = 0; span < 5; span++) {
    announce('tools', 100);
    announce('prompts', 100);
    pass();
  }
  expect(notices.filter((method) => method.includes('tools'))).toHaveLength(6);
  expect(notices.filter((method) => method.includes('prompts'))).toHaveLength(6);
  expect(reads()).toBe(6);
});

it('issue 34: a listener that throws ends no later announcement', () => {
  const { notices, announce, pass } = heard(1);
  expect(() => announce('prompts', 1)).toThrow('a listener failed');
  announce('prompts', 1);
  pass();
  expect(notices).toEqual(['notifications/prompts/list_changed']);
});
