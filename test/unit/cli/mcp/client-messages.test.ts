import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { clientMessages } from '#src/cli/mcp/client-messages.js';
import { UNREAD_MAX_BYTES } from '#src/core/limits.js';

it('issue 34: while 8 MiB of answers wait for the client none of its messages is read, and then all are', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const messages = clientMessages(stdin, stdout);
  stdin.write('1\n2\n3\n');
  const next = async () => String((await messages.next()).value);
  expect(await next()).toBe('1\n');
  stdout.write(Buffer.alloc(UNREAD_MAX_BYTES));
  expect(await next()).toBe('2\n');
  stdout.write(Buffer.alloc(1));
  let isRead = false;
  const third = next().finally(() => {
    isRead = true;
  });
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  expect(isRead).toBe(false);
  stdout.resume();
  expect(await third).toBe('3\n');
});
