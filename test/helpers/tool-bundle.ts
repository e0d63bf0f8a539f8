import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

/** Bundles of the fixtures `tool-…`. Each is a single main.js, because a sandbox sees nothing else. */
export class ToolBundles {
  readonly #base: string;
  readonly #built = new Map<string, Promise<string>>();

  constructor() {
    this.#base = mkdtempSync(join(tmpdir(), 'contextd-bundles-'));
    chmodSync(this.#base, 0o755);
  }

  /** Returns the directory of the bundle, which is built once. */
  dirOf(fixture: string): Promise<string> {
    const built = this.#built.get(fixture) ?? this.#build(fixture);
    this.#built.set(fixture, built);
    return built;
  }

  remove(): void {
    rmSync(this.#base, { recursive: true, force: true });
  }

  async #build(fixture: string): Promise<string> {
    const dir = join(this.#base, fixture);
    await build({
      entryPoints: [join(FIXTURES, `tool-${fixture}`, 'main')],
      outfile: join(dir, 'main.js'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      logLevel: 'warning',
      banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    });
    chmodSync(dir, 0o755);
    return dir;
  }
}
