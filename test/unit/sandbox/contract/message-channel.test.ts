import { duplexPair } from 'node:stream';
import { expect, test } from 'vitest';
import { MessageChannel } from '#src/sandbox/contract/spawner-messages.js';

test('a sender must wait after a mebibyte that nobody reads, and continues when all of it was read', async () => {
  const [near, far] = duplexPair();
  const channel = new MessageChannel(
    near,
    () => {},
    () => {},
  );
  const chunk = Buffer.alloc(65_536);
  let sent = 1;
  while (sent < 100 && channel.send({ re: 'out', id: 1, stream: 'stdout' }, chunk)) sent += 1;
  expect(sent).toBe(16);
  const drained = new Promise<void>((resolve) => channel.onceDrained(resolve));
  let received = 0;
  const reader = new MessageChannel(
    far,
    (_header, body) => {
      received += body.length;
    },
    () => {},
  );
  await drained;
  expect(received).toBe(16 * chunk.length);
  expect(channel.send({ re: 'out', id: 1, stream: 'stdout' }, chunk)).toBe(true);
  for (const one of [channel, reader]) one.close();
});
