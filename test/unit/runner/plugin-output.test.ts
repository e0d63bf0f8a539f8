import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PluginOutput } from '#src/runner/plugin/plugin-process.js';

const NEWLINE = 0x0a;

function read(): { stdout: PassThrough; stderr: PassThrough; output: PluginOutput; seen: Record<string, string> } {
  const seen = { stdout: '', stderr: '' };
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const process = {
    ...streams,
    socketDir: '/none',
    exited: Promise.resolve({ code: 0, signal: null }),
    kill: async () => {},
  };
  const output = new PluginOutput(process, (channel, data) => {
    seen[channel] += data.toString('latin1');
  });
  return { ...streams, output, seen };
}

describe('the output of a plugin', () => {
  it('is a first line and the rest, however it is cut', async () => {
    const bytes = fc.uint8Array({ maxLength: 300 }).filter((line) => !line.includes(NEWLINE));
    const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.uint8Array({ maxLength: 300 }), cuts, async (line, rest, sizes) => {
        const { stdout, output, seen } = read();
        const all = Buffer.concat([line, Buffer.from([NEWLINE]), rest]);
        for (let at = 0, turn = 0; at < all.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          stdout.write(all.subarray(at, at + size));
          at += size;
        }
        stdout.end();
        expect(await output.firstLine).toBe(Buffer.from(line).toString());
        await new Promise((resolve) => stdout.once('close', resolve));
        expect(seen.stdout).toBe(Buffer.from(rest).toString('latin1'));
      }),
    );
  });

  it('is given up at 8 KiB without a line end, and the rest is discarded', async () => {
    const { stdout, output, seen } = read();
    const refused = expect(output.firstLine).rejects.toMatchObject({ code: 'TOOL_CRASHED' });
    for (let chunk = 0; chunk < 100; chunk += 1) stdout.write(Buffer.alloc(1_000, 'x'));
    await refused;
    stdout.end('\nlater\n');
    await new Promise((resolve) => stdout.once('close', resolve));
    expect(seen.stdout).toBe('');
  });

  it('is refused if a line is too long, even if its end comes in the same chunk', async () => {
    const { stdout, output } = read();
    stdout.write(`${'x'.repeat(9_000)}\n`);
    await expect(output.firstLine).rejects.toMatchObject({ message: expect.stringContaining('more than 8192 bytes') });
  });

  it('on stderr is passed on, and its last part is kept until the plugin is ready', async () => {
    const { stderr, output, seen } = read();
    stderr.write('a'.repeat(5_000));
    stderr.write('the last words\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(output.lastWords).toHaveLength(999);
    expect(output.lastWords.endsWith('athe last words')).toBe(true);
    expect(seen.stderr).toHaveLength(5_015);
    output.started();
    stderr.write('more');
    await new Promise((resolve) => setImmediate(resolve));
    expect(output.lastWords).toBe('');
  });
});
