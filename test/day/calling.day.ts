import { afterAll, describe, expect } from 'vitest';
import { removeMachine, task } from './machine.ts';

afterAll(removeMachine);

describe('calling', () => {
  task('plain words print the output and nothing else', 'qs', async (at) => {
    expect(await at.shell(`safe_bash 'node -p 6*7'`)).toEqual({ code: 0, stdout: '42\n', stderr: '' });
  });

  task('a failing command stops a chain', 'qs', async (at) => {
    const { code, stdout, stderr } = await at.shell(`safe_bash 'exit 3' && echo went on`);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^\[contextd exit 3/);
  });

  task('a call in a subdirectory runs there', 'qs', async (at) => {
    const { code, stdout } = await at.shell(`cd lib && safe_bash 'pwd; ls index.js'`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${at.dir}/lib\nindex.js\n` });
  });

  task('quotes arrive', 'qs', async (at) => {
    const command = `echo "it's \\"quoted\\""`;
    const script = `safe_bash --command "$(cat <<'END'\n${command}\nEND\n)"`;
    expect((await at.shell(script)).stdout).toBe(`it's "quoted"\n`);
  });

  task('a pipe of the shell gets the output alone', 'qs', async (at) => {
    expect((await at.shell(`safe_bash 'seq 5; echo noise >&2' 2>/dev/null | tail -1`)).stdout).toBe('5\n');
  });
});
