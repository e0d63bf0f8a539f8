import { afterAll, describe, expect } from 'vitest';
import { expectRan, removeMachine, task } from './machine.ts';

afterAll(removeMachine);

describe('Node', () => {
  task('npm test', 'qs', async (at) => {
    expectRan(await at.bash('npm test'), { stdout: /# pass/ });
  });

  task('tsc from node_modules', 'qs', async (at) => {
    const script = `echo 'const a: number = "x";' >bad.ts; node_modules/.bin/tsc --noEmit bad.ts; npx --no-install tsc --version`;
    expectRan(await at.bash(script), { stdout: /TS2322[\s\S]*Version 5/ });
  });

  task(
    'npm test in a package of a monorepo',
    'monorepo',
    async (at) => {
      expectRan(await at.bash('npm test'), { stdout: /pass 1/ });
    },
    'packages/p3',
  );
});

describe('Python', () => {
  task('pytest in a virtual environment made outside', 'requests', async (at) => {
    const answer = await at.bash('PYTHONPATH=src .venv/bin/pytest -q tests/test_structures.py tests/test_hooks.py');
    expectRan(answer, { stdout: /\d+ passed/ });
  });

  task('pytest after activating the environment', 'flask', async (at) => {
    const answer = await at.bash(
      '. .venv/bin/activate && PYTHONPATH=src pytest -q tests/test_json.py tests/test_config.py',
    );
    expectRan(answer, { stdout: /\d+ passed/ });
  });

  task('a virtual environment made inside works outside', 'flask', async (at) => {
    expectRan(await at.bash('python3 -m venv .inside && .inside/bin/python -c "print(6*7)"'), { stdout: '42\n' });
    expect(await at.shell('.inside/bin/python -c "print(6*7)"')).toMatchObject({ code: 0, stdout: '42\n' });
  });

  task('the person’s own python3', 'flask', async (at) => {
    const outside = await at.shell('python3 --version');
    expectRan(await at.bash('python3 --version'), { stdout: outside.stdout });
  });
});

describe('Go', () => {
  task('go build and go vet', 'mux', async (at) => {
    expectRan(await at.bash('go version && go build ./... && go vet .'), {});
  });

  task('go test, whose second run uses the build cache', 'mux', async (at) => {
    expectRan(await at.bash('go test ./...'), { stdout: /^ok /m });
    expectRan(await at.bash('go test ./...'), { stdout: /\(cached\)/ });
  });
});

describe('Rust', () => {
  task('cargo build with vendored dependencies', 'ripgrep', async (at) => {
    expectRan(await at.bash('cargo build --offline -q && target/debug/rg --version', { timeout_ms: 300_000 }), {
      stdout: /ripgrep/,
    });
  });

  task('cargo fmt', 'ripgrep', async (at) => {
    expectRan(await at.bash('cargo fmt --version && rustc --version'), {});
  });
});

describe('Java', () => {
  task('mvn -v', 'gson', async (at) => {
    expectRan(await at.bash('mvn -v'), { stdout: /Apache Maven/ });
  });

  task('mvn test, offline', 'gson', async (at) => {
    expectRan(await at.bash('mvn -o test'), { stdout: /Tests run: 1, Failures: 0/ });
  });

  task('javac and java', 'gson', async (at) => {
    const script =
      'mkdir -p out && javac -d out -cp $(find .m2 -name "gson-*.jar") src/main/java/com/example/*.java && java -cp out:$(find .m2 -name "gson-*.jar") com.example.Shop';
    expectRan(await at.bash(script), { stdout: '{"name":"corner"}\n' });
  });
});

describe('C', () => {
  task('make test', 'zlib', async (at) => {
    expectRan(await at.bash('make -j2 test'), { stdout: /roundtrip ok/ });
  });

  task('cmake and ctest', 'zlib', async (at) => {
    expectRan(await at.bash('cmake -S . -B build && cmake --build build -j2 && ctest --test-dir build'), {
      stdout: /100% tests passed/,
    });
  });
});

describe('what persists', () => {
  task('/tmp of one call is there in the next', 'qs', async (at) => {
    expectRan(await at.bash('echo kept >/tmp/note'), {});
    expectRan(await at.bash('cat /tmp/note'), { stdout: 'kept\n' });
  });

  task('~/.cache of one call is there in the next', 'qs', async (at) => {
    expectRan(await at.bash('mkdir -p ~/.cache/x && echo kept >~/.cache/x/note'), {});
    expectRan(await at.bash('cat ~/.cache/x/note'), { stdout: 'kept\n' });
  });

  task('a program that only the host has is named with how to allow it', 'qs', async (at) => {
    await at.addHostProgram('only-here');
    const answer = await at.bash('only-here');
    expectRan(answer, { code: 127 });
    const howToAllow = expect.stringContaining('ctxd allow');
    expect(answer.denied).toContainEqual(expect.objectContaining({ how_to_allow: howToAllow }));
  });
});
