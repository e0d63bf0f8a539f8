import { expect, it } from 'vitest';
import { HOSTS_PER_SCOPE } from '#src/egress/limits.js';
import { SentBytes } from '#src/features/network/sent-bytes.js';

it('what hosts got is kept for a limited number of hosts, those that got least are forgotten first', () => {
  const sent = new SentBytes();
  sent.note('full.example', 1_000_000);
  for (let n = 0; n < HOSTS_PER_SCOPE * 2; n += 1) sent.note(`h${n}.example`, 10 + n);
  sent.note('full.example', 5);
  expect(Object.keys(sent.counts)).toHaveLength(HOSTS_PER_SCOPE);
  expect(sent.counts).toMatchObject({ 'full.example': 1_000_000, [`h${HOSTS_PER_SCOPE * 2 - 1}.example`]: 8_201 });
});
