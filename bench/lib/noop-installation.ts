import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { findInstallRoot } from '../../src/config/install-root.ts';

/** A second installation of the same program, whose only core tool does nothing. */
export async function makeNoopRoot(): Promise<{ root: string; remove(): Promise<void> }> {
  const source = findInstallRoot();
  const root = await mkdtemp(join(tmpdir(), 'ctxi-'));
  await copyProgram(source, root);
  await makeBundle(source, join(root, 'dist', 'core-bundle'));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** The code is copied, not linked: the program finds its installation by the real path of its own files. */
async function copyProgram(source: string, root: string): Promise<void> {
  await mkdir(join(root, 'bin'));
  await symlink(join(source, 'node_modules'), join(root, 'node_modules'));
  await symlink(join(source, 'bin', 'contextd-proxy'), join(root, 'bin', 'contextd-proxy'));
  for (const file of ['package.json', 'bin/contextd', 'bin/ctxd']) await copyFile(join(source, file), join(root, file));
  for (const dir of ['dist/src', 'dist/program']) await cp(join(source, dir), join(root, dir), { recursive: true });
}

async function makeBundle(source: string, target: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('./noop-tool-main.js', import.meta.url))],
    outfile: join(target, 'main.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    // CommonJS packages load Node's own modules with `require`, which an ES module does not have.
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
  });
  await copyManifest(join(source, 'dist', 'core-bundle', 'tools', 'safe_read'), join(target, 'tools', 'noop'));
}

/** Writes the manifest of a tool that needs no grant, under another name. */
async function copyManifest(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  const manifest: object = JSON.parse(await readFile(join(source, 'tool.json'), 'utf8'));
  await writeFile(join(target, 'tool.json'), JSON.stringify({ ...manifest, name: 'noop', purpose: 'Does nothing.' }));
  await writeFile(join(target, 'schema.json'), '{"type":"object","additionalProperties":false}\n');
  for (const file of ['TOOL.md', 'TOOL_EXTENDED.md']) await writeFile(join(target, file), '# noop\n');
}
