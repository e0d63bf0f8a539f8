import { afterAll, describe, expect } from 'vitest';
import { expectRan, removeMachine, task } from './machine.ts';

afterAll(removeMachine);

describe('long and interactive work', () => {
  task('a development server in the background answers later calls and is stopped', 'express', async (at) => {
    const started = await at.tool('safe_bash', { command: 'node server.js', background: true });
    expect(started.data).toHaveProperty('job');
    const job = started.data.job;
    expect(await at.tool('jobs', { action: 'wait', job, text: 'listening' })).toMatchObject({
      data: { output: expect.stringContaining('listening') },
    });
    expectRan(await at.bash('curl -s http://localhost:3000/'), { stdout: 'it works' });
    await at.tool('jobs', { action: 'stop', job });
    expect((await at.bash('curl -s http://localhost:3000/')).code).toBe(7);
  });

  task('a build of 40 seconds ends by itself', 'express', async (at) => {
    expectRan(await at.bash('sleep 40; echo built'), { stdout: 'built\n' });
  });

  task('a program that waits for input is named', 'express', async (at) => {
    const { job } = (await at.tool('safe_bash', { command: 'cat', background: true })).data;
    const waited = await at.tool('jobs', { action: 'wait', job, timeout_ms: 10_000 });
    expect(JSON.stringify(waited)).toMatch(/wait(s|ing) for input/i);
  });

  task('a REPL works on a terminal', 'express', async (at) => {
    const answer = await at.bash('printf "6*7\\n.exit\\n" | node -i', { tty: true });
    expectRan(answer, { stdout: /42/ });
    expect(answer.stdout).not.toContain('\u001b');
  });

  task('the errors of a long output are found again', 'express', async (at) => {
    const answer = await at.bash(
      'for i in $(seq 20000); do echo line $i; done; echo "src/a.ts(1,2): error TS2322: wrong"; exit 2',
      { max_tokens: 500 },
    );
    expectRan(answer, { code: 2, stdout: /TS2322/ });
  });
});

describe('files', () => {
  task('a line in the middle of a file of 6,000,000 lines', 'express', async (at) => {
    expectRan(await at.bash('seq -f "line %.0f of a long file" 6000000 >big.txt'), {});
    const found = await at.tool('safe_read', { path: 'big.txt', grep: 'line 3141592 ' });
    expect(found.stdout).toMatch(/^3141592\D+line 3141592 of/m);
  });

  task('text in Latin-1 is readable', 'express', async (at) => {
    at.write('latin.txt', Buffer.from('caf\xe9 und Stra\xdfe\n', 'latin1'));
    expect((await at.tool('safe_read', { path: 'latin.txt' })).stdout).toContain('café und Straße');
  });

  task('an edit keeps the line ends', 'express', async (at) => {
    at.write('dos.txt', 'one\r\ntwo\r\n');
    await at.tool('safe_write', { path: 'dos.txt', edits: [{ old: 'two', new: 'three' }] });
    expect(at.read('dos.txt')).toBe('one\r\nthree\r\n');
  });
});
